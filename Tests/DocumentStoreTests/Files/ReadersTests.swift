import Dispatch
import DocumentModel
import StrictJSON
import Testing

@testable import DocumentStore

@Suite struct ReadersTests {
    @Test("A document is read while all threads that read collections are busy", .timeLimit(.minutes(1)))
    func documentsBesideLists() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            try await store.set("c/d", [:])
            let gate = DispatchSemaphore(value: 0)
            for _ in 0..<fixture.configuration.readers { store.listers.submit { gate.wait() } }
            let document = try await store.document(at: DocumentPath("c/d"), readTime: nil)
            for _ in 0..<fixture.configuration.readers { gate.signal() }
            #expect(document != nil)
        }
    }

    @Test("A document that is in memory is read while all threads that read files are busy", .timeLimit(.minutes(1)))
    func documentInMemory() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            let path = try DocumentPath("c/d/e/ü f")
            try await store.set(path.string, ["n": .integer(1)])
            let gate = DispatchSemaphore(value: 0)
            for _ in 0..<fixture.configuration.readers { store.readers.submit { gate.wait() } }
            let document = try await store.document(at: path, readTime: nil)
            for _ in 0..<fixture.configuration.readers { gate.signal() }
            #expect(try document?.decoded().fields == ["n": .integer(1)])
        }
    }
}
