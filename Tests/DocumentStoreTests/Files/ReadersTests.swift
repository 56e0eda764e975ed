import Dispatch
import DocumentModel
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
}
