import Dispatch
import DocumentModel
import DocumentStore
import QueryEngine
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import DocumentIndex
@testable import FileStore

@Suite("Query scheduling")
struct QuerySchedulingTests {
    private var fixture: StoreFixture

    /// A counter of rows.
    private final class RowCounter: Sendable {
        let count = Mutex(0)
    }

    init() throws {
        fixture = try StoreFixture()
    }

    @Test(
        .timeLimit(.minutes(10))
    )
    func `Endless queries don't block others, and end when their task is cancelled`() async throws {
        try await fixture.withStore { store in
            for id in 0..<10 { try await store.set("c/\(id)", [:]) }
            let scan = IndexScan(target: .collection(try CollectionPath("c")), index: .documents)
            let rows = RowCounter()
            let endless = (0..<10).map { _ in
                Task {
                    try await store.readIndex { snapshot throws(StatusError) in
                        while true {
                            try snapshot.checkCancellation()
                            let cursor = try snapshot.cursor(scan, probing: [])
                            while try cursor.next() { rows.count.withLock { $0 += 1 } }
                        }
                    }
                }
            }
            let query = try NormalizedQuery(StructuredQuery(.collection(CollectionPath("c"))))
            while rows.count.withLock({ $0 }) == 0 { await Task.yield() }
            for _ in 0..<20 {
                #expect(try await store.run(query, maximumBytes: 1 << 20, readTime: nil).documents.count == 10)
            }
            for task in endless { task.cancel() }
            for task in endless { await expectStatus(.cancelled) { try await task.value } }
            let end = rows.count.withLock { $0 }
            #expect(try await store.run(query, maximumBytes: 1 << 20, readTime: nil).documents.count == 10)
            #expect(rows.count.withLock { $0 } == end)
        }
    }

    @Test(
        .timeLimit(.minutes(10))
    )
    func `An endless SQLite step doesn't block other queries, and ends when its task is cancelled`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", [:])
            let begun = RowCounter()
            let endless = (0..<6).map { _ in
                Task {
                    try await store.readIndex { snapshot throws(StatusError) in
                        begun.count.withLock { $0 += 1 }
                        try snapshot.countForever()
                    }
                }
            }
            while begun.count.withLock({ $0 }) < 6 { await Task.yield() }
            let query = try NormalizedQuery(StructuredQuery(.collection(CollectionPath("c"))))
            #expect(try await store.run(query, maximumBytes: 1 << 20, readTime: nil).documents.count == 1)
            for task in endless { task.cancel() }
            for task in endless { await expectStatus(.cancelled) { try await task.value } }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `Long-running queries above the limit are rejected, with a retry delay`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", [:])
            await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<14 {
                    group.addTask {
                        try await store.readIndex { snapshot throws(StatusError) in try snapshot.countForever() }
                    }
                }
                let first = await group.nextResult()
                group.cancelAll()
                guard case .failure(let error as StatusError) = first else {
                    Issue.record("no query was rejected")
                    return
                }
                #expect(error.code == .unavailable && error.retryAfter != nil)
                while await group.nextResult() != nil {}
            }
        }
    }
}

extension IndexSnapshot {
    /// Counts an infinite number of rows in one step of SQLite.
    fileprivate func countForever() throws(StatusError) {
        try withStatusErrors { () throws in
            let endless = "WITH RECURSIVE row(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM row) SELECT count(*) FROM row"
            _ = try IndexStatement(endless, database).step()
        }
    }
}
