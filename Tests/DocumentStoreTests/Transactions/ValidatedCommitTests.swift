import DocumentModel
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import DocumentStore

@Suite("A commit is refused when what it has read was changed")
struct ValidatedCommitTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test("Concurrent transfers keep the sum")
    func transfers() async throws {
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

    @Test("Everybody who increments one counter gets through, and none is lost")
    func counter() async throws {
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

    @Test("Of two transactions that each rely on what the other changes, one is refused")
    func writeSkew() async throws {
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

    @Test("A listed collection must not change", arguments: ["added", "changed", "deleted"])
    func phantom(change: String) async throws {
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

    @Test("What happens in other collections, and before the listing, does not matter")
    func unrelated() async throws {
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

    @Test("A commit without writes validates, and leaves no trace", arguments: [false, true])
    func readsOnly(isChanged: Bool) async throws {
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

    @Test("A document that changed between two reads can't be relied on, even when it changed back")
    func twoReads() async throws {
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

    @Test("A failed precondition is told only to who has read what is")
    func order() async throws {
        try await fixture.withStore { store in
            let path = try DocumentPath("c/a")
            var reads = ReadSet()
            reads.note(try await store.document(at: path), at: path)
            let create = Write.create(path, [:])
            _ = try await store.commit([create], validating: reads)
            await expectStatus(.aborted) { try await store.commit([create], validating: reads) }
            await expectStatus(.alreadyExists) { try await store.commit([create]) }
        }
    }

    @Test("A damaged document that was read is an error, not a change")
    func damaged() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", [:])
            let transaction = Transaction(store)
            _ = try await transaction.number(at: DocumentPath("c/a"))
            try fixture.folder.write("{", to: "data/documents/c/a.json")
            await expectStatus(.dataLoss) { try await transaction.commit() }
        }
    }

    @Test("A store that was opened anew knows nothing of what was listed before")
    func reopened() async throws {
        let position = try await fixture.withStore { store in
            try await store.set("c/a", [:])
            let position = store.position
            try await store.set("d/a", [:])
            return position
        }
        try await fixture.withStore { store in
            var reads = ReadSet()
            reads.noteListing(of: try CollectionPath("c"), after: position.lastSequence)
            await expectStatus(.aborted) { try await store.commit([], validating: reads) }
            var fresh = ReadSet()
            fresh.noteListing(of: try CollectionPath("c"), after: store.position.lastSequence)
            _ = try await store.commit([], validating: fresh)
        }
    }

    @Test("Collections that are forgotten look as if they had changed")
    func forgotten() throws {
        var changes = CollectionChanges(after: SequenceNumber(10), maximumCount: 4)
        let paths = try (0..<12).map { try CollectionPath("c\($0)") }
        #expect(changes.last(in: .collection(paths[0])) == SequenceNumber(10))
        for (index, path) in paths.enumerated() {
            let document = path.document(try DocumentID("d"))
            let change = DocumentChange(path: document, before: nil, after: nil, existedBefore: true)
            changes.note(Commit(sequence: SequenceNumber(UInt64(11 + index)), time: .minimum, changes: [change]))
        }
        #expect(changes.last(in: .collection(paths[11])) == SequenceNumber(22))
        for index in paths.indices { #expect(changes.last(in: .collection(paths[index])) >= SequenceNumber(UInt64(11 + index))) }
        let unknown = changes.last(in: .collection(try CollectionPath("other")))
        #expect(unknown > SequenceNumber(10) && unknown < SequenceNumber(22))
    }
}

/// A transaction as its callers run it.
private final class Transaction: Sendable {
    private let store: FileStore
    private let state = Mutex<(reads: ReadSet, writes: [Write])>((ReadSet(), []))

    init(_ store: FileStore) {
        self.store = store
    }

    func number(at path: DocumentPath) async throws -> Int64 {
        let document = try await store.document(at: path)
        state.withLock { $0.reads.note(document, at: path) }
        return try document.number
    }

    func list(_ collection: String) async throws -> [String] {
        let path = try CollectionPath(collection)
        let position = store.position
        let page = try await store.list(collection)
        state.withLock { $0.reads.noteListing(of: path, after: position.lastSequence) }
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
    /// Runs a transaction until it gets through.
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
    /// The field `n`; 0 where there is none.
    fileprivate var number: Int64 {
        get throws {
            guard case .integer(let number) = try self?.decoded().fields["n" as UTF8Key] else { return 0 }
            return number
        }
    }
}
