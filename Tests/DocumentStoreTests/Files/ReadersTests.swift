import Dispatch
import DocumentModel
import StrictJSON
import TestSupport
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

    @Test("A document that was written or read before is told from memory, and only as it is")
    func documentInMemory() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            let path = try DocumentPath("c/d/e/ü f")
            try await store.set(path.string, ["n": .integer(1)])
            // What changes elsewhere may make the system look again, and then it does not tell.
            let told = (0..<1_000).lazy.compactMap { _ in store.parts.files.documentInMemory(at: path) }.first
            #expect(try told?.decoded().fields == ["n": .integer(1)])
            try fixture.folder.write("{\"n\": 2}", to: "data/documents/c/d/e/ü f.json")
            #expect(store.parts.files.documentInMemory(at: path) == nil)
        }
    }
}
