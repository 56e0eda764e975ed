import DocumentModel
import DocumentStore
import Synchronization
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Validation of reads at commit", .tags(.slow))
struct ValidatedCommitTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test
    func `Concurrent transfers preserve the sum`() async throws {
        let accounts = try (0..<6).map { try DocumentPath("accounts/a\($0)") }
        try await fixture.withStore { store in
            for path in accounts { try await store.set(path.string, ["n": .integer(100)]) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<8 {
                    group.addTask {
                        for round in 0..<25 {
                            let (from, to) = (accounts[(caller + round) % 6], accounts[(caller * 5 + round * 2 + 1) % 6])
                            guard from != to else { continue }
                            try await store.transact { transaction in
                                let (have, get) = (try await transaction.number(at: from), try await transaction.number(at: to))
                                transaction.set(from, have - 7)
                                transaction.set(to, get + 7)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            var sum: Int64 = 0
            for path in accounts { sum += try await store.number(at: path) }
            #expect(sum == 600)
        }
    }

    @Test
    func `Concurrent increments of one counter all succeed`() async throws {
        let path = try DocumentPath("c/counter")
        try await fixture.withStore { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        try await store.transact { transaction in
                            transaction.set(path, try await transaction.number(at: path) + 1)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.number(at: path) == 50)
            #expect(store.position.lastSequence == SequenceNumber(50))
        }
    }

    @Test
    func `Write skew: of two transactions that each read what the other writes, one is aborted`() async throws {
        let paths = try [DocumentPath("doctors/a"), DocumentPath("doctors/b")]
        try await fixture.withStore { store in
            for path in paths { try await store.set(path.string, ["n": .integer(1)]) }
            var transactions: [Transaction] = []
            for path in paths {
                let transaction = Transaction(store)
                for other in paths { _ = try await transaction.number(at: other) }
                transaction.set(path, 0)
                transactions.append(transaction)
            }
            let outcomes = await withTaskGroup(of: StatusCode?.self) { group in
                for transaction in transactions {
                    group.addTask {
                        do throws(StatusError) {
                            try await transaction.commit()
                            return nil
                        } catch {
                            return error.code
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(outcomes) == [nil, .aborted])
            var sum: Int64 = 0
            for path in paths { sum += try await store.number(at: path) }
            #expect(sum == 1)
        }
    }

    @Test(arguments: ["added", "changed", "deleted"])
    func `A change in a listed collection aborts the transaction`(change: String) async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            let transaction = Transaction(store)
            _ = try await transaction.list("c")
            transaction.set(try DocumentPath("sums/c"), 1)
            switch change {
            case "added": try await store.set("c/b", ["n": .integer(1)])
            case "changed": try await store.set("c/a", ["n": .integer(2)])
            default: try await store.delete("c/a")
            }
            let error = await expectStatus(.aborted) { try await transaction.commit() }
            #expect(error?.path == "c")
            #expect(try await store.document(at: DocumentPath("sums/c")) == nil)
        }
    }

    @Test
    func `Changes in other collections, and before the listing, do not abort the transaction`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", [:])
            let transaction = Transaction(store)
            _ = try await transaction.list("c")
            try await store.set("c/a/c/b", [:])
            try await store.set("d/a", [:])
            // Changes nothing.
            try await store.set("c/a", [:])
            transaction.set(try DocumentPath("c/b"), 1)
            try await transaction.commit()
        }
    }

    @Test(arguments: [false, true])
    func `A commit without writes validates its reads, and adds nothing to the log`(isChanged: Bool) async throws {
        try await fixture.withStore { store in
            let transaction = Transaction(store)
            _ = try await transaction.number(at: DocumentPath("c/absent"))
            try await store.set(isChanged ? "c/absent" : "c/other", [:])
            if isChanged {
                await expectStatus(.aborted) { try await transaction.commit() }
            } else {
                #expect(try await transaction.commit().sequence == nil)
            }
            #expect(store.position.lastSequence == SequenceNumber(1))
        }
    }

    @Test
    func `A document that changed between two reads aborts the transaction, even when it changed back`() async throws {
        try await fixture.withStore { store in
            let path = try DocumentPath("c/a")
            let transaction = Transaction(store)
            _ = try await transaction.number(at: path)
            try await store.set("c/a", [:])
            _ = try await transaction.number(at: path)
            try await store.delete("c/a")
            _ = try await transaction.number(at: path)
            await expectStatus(.aborted) { try await transaction.commit() }
        }
    }

    @Test
    func `Changed reads are reported before a failed precondition`() async throws {
        try await fixture.withStore { store in
            let path = try DocumentPath("c/a")
            var reads = ReadSet()
            reads.recordRead(try await store.document(at: path), at: path)
            let create = Write.create(path, [:])
            _ = try await store.commit([create], validating: reads)
            await expectStatus(.aborted) { try await store.commit([create], validating: reads) }
            await expectStatus(.alreadyExists) { try await store.commit([create]) }
        }
    }

    @Test
    func `A damaged document that was read is an error, not a change`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", [:])
            let transaction = Transaction(store)
            _ = try await transaction.number(at: DocumentPath("c/a"))
            try fixture.folder.write("{", to: "data/documents/c/a.json")
            await expectStatus(.dataLoss) { try await transaction.commit() }
        }
    }

    @Test
    func `A listing from before a restart is treated as changed when there were commits since`() async throws {
        let position = try await fixture.withStore { store in
            try await store.set("c/a", [:])
            let position = store.position
            try await store.set("d/a", [:])
            return position
        }
        try await fixture.withStore { store in
            var reads = ReadSet()
            reads.recordListing(of: try CollectionPath("c"), after: position.lastSequence)
            await expectStatus(.aborted) { try await store.commit([], validating: reads) }
            var fresh = ReadSet()
            fresh.recordListing(of: try CollectionPath("c"), after: store.position.lastSequence)
            _ = try await store.commit([], validating: fresh)
        }
    }

    @Test
    func `Collections dropped from the table count as changed`() throws {
        var versions = ScopeVersions(after: SequenceNumber(10), maximumCount: 4)
        let paths = try (0..<12).map { try CollectionPath("c\($0)") }
        #expect(versions.lastChange(in: .collection(paths[0])) == SequenceNumber(10))
        for (index, path) in paths.enumerated() {
            let document = path.document(try DocumentPath.ID("d"))
            let change = CommittedChange(path: document, before: nil, after: nil, existedBefore: true)
            versions.record(Commit(sequence: SequenceNumber(UInt64(11 + index)), time: .minimum, changes: [change]))
        }
        #expect(versions.lastChange(in: .collection(paths[11])) == SequenceNumber(22))
        for index in paths.indices {
            #expect(versions.lastChange(in: .collection(paths[index])) >= SequenceNumber(UInt64(11 + index)))
        }
        let unknown = versions.lastChange(in: .collection(try CollectionPath("other")))
        #expect(unknown > SequenceNumber(10) && unknown < SequenceNumber(22))
    }
}

/// A transaction as a client runs it.
private final class Transaction: Sendable {
    private let store: FileStore
    private let state = Mutex<(reads: ReadSet, writes: [Write])>((ReadSet(), []))

    init(_ store: FileStore) {
        self.store = store
    }

    func number(at path: DocumentPath) async throws -> Int64 {
        let document = try await store.document(at: path)
        state.withLock { $0.reads.recordRead(document, at: path) }
        return try document.number
    }

    func list(_ collection: String) async throws -> [String] {
        let path = try CollectionPath(collection)
        let position = store.position
        let page = try await store.list(collection)
        state.withLock { $0.reads.recordListing(of: path, after: position.lastSequence) }
        return page.ids
    }

    func set(_ path: DocumentPath, _ number: Int64) {
        state.withLock { $0.writes.append(Write(path: path, operation: .replace(["n": .integer(number)]))) }
    }

    @discardableResult
    func commit() async throws(StatusError) -> CommitResult {
        let (reads, writes) = state.withLock { $0 }
        return try await store.commit(writes, validating: reads)
    }
}

extension FileStore {
    /// Runs a transaction, and retries it when it is aborted.
    fileprivate func transact(_ body: (Transaction) async throws -> Void) async throws {
        while true {
            let transaction = Transaction(self)
            try await body(transaction)
            do throws(StatusError) {
                try await transaction.commit()
                return
            } catch {
                guard error.code == .aborted else { throw error }
            }
        }
    }

    fileprivate func number(at path: DocumentPath) async throws -> Int64 {
        try await document(at: path).number
    }
}

extension EncodedDocument? {
    /// The field `n`; 0 when it is missing.
    fileprivate var number: Int64 {
        get throws {
            guard case .integer(let number) = try self?.decoded().fields["n" as UTF8Key] else { return 0 }
            return number
        }
    }
}
