import Concurrency
import DocumentModel
import DocumentStore
import TestSupport
import Testing

@testable import FileStore

@Suite("Commits that wait for the disk", .timeLimit(.minutes(10)))
struct LateCommitTests {
    @Test func `A commit that has waited too long changes nothing, and the others of its batch are made`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store throws in
            let late = CallAdmission(queueTime: .zero)
            let error = await CallAdmission.$current.withValue(late) {
                await #expect(throws: StatusError.self) { try await store.set("c/late", [:]) }
            }
            #expect(error?.code == .unavailable && error?.isExecuted == false && error?.retryAfter != nil)
            try await CallAdmission.$current.withValue(CallAdmission(queueTime: .seconds(3_600))) {
                try await store.set("c/a", [:])
            }
            // A call whose work has begun is never refused.
            let begun = CallAdmission(queueTime: .seconds(3_600))
            _ = begun.begin(after: Stopwatch())
            try await CallAdmission.$current.withValue(begun) { try await store.set("c/b", [:]) }
            #expect(try await store.list("c").documents.map(\.path.string) == ["c/a", "c/b"])
            #expect(store.position.lastSequence.rawValue == 2)
        }
    }
}
