import DocumentModel
import DocumentStore
import StrictJSON
import Testing

@testable import HearthService

/// What a watcher is told, for every way in which reading and committing can overlap.
@Suite struct WatchStateTests {
    /// A page that was read, or a commit that was taken.
    enum Step: Sendable {
        /// Documents as `id: commit`, up to an ID, when the log was at a commit.
        case page([String: Int], upTo: String?, at: Int)
        /// Changes as `id: existed before, exists after`.
        case commit(Int, [Change])
    }

    struct Change: Sendable {
        let id: String
        let existedBefore: Bool
        let existsAfter: Bool

        static func made(_ id: String) -> Change { Change(id: id, existedBefore: false, existsAfter: true) }
        static func changed(_ id: String) -> Change { Change(id: id, existedBefore: true, existsAfter: true) }
        static func gone(_ id: String) -> Change { Change(id: id, existedBefore: true, existsAfter: false) }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [Step]
        let frames: [String]

        init(_ description: String, _ steps: [Step], _ frames: [String]) {
            testDescription = description
            self.steps = steps
            self.frames = frames
        }
    }

    @Test("Reading and committing overlap", arguments: cases)
    func overlap(_ test: Case) throws {
        var state = WatchState(target: .collection(try CollectionPath("c")), at: try Self.position(at: 10))
        var replica = WatchReplica()
        for step in test.steps {
            switch step {
            case .page(let documents, let last, let commit):
                #expect(state.isSettled, "a page is read when the one before is settled")
                let page = try documents.sorted { $0.key < $1.key }.map { try Self.document($0.key, $0.value) }
                replica.take(state.take(page: page, upTo: try last.map { try DocumentID($0) }, at: try Self.position(at: commit)))
            case .commit(let number, let changes):
                replica.take(state.take(try Self.commit(number, changes)))
            }
            if let current = state.current() { replica.take(current) }
        }
        #expect(replica.log == test.frames)
        #expect(replica.faults.isEmpty)
    }

    static let cases = [
        Case("An empty collection is current at once", [.page([:], upTo: nil, at: 10)], ["current 0"]),
        Case(
            "Without commits each page is sent, and the last makes it current",
            [.page(["a": 1, "b": 2], upTo: "b", at: 10), .page(["c": 3], upTo: nil, at: 10)],
            ["added a 1", "added b 2", "added c 3", "current 3"]
        ),
        Case(
            "A commit that the page showed is not told again",
            [.page(["a": 11], upTo: nil, at: 11), .commit(11, [.made("a")])],
            ["added a 11", "current 1"]
        ),
        Case(
            "A commit after the page's reading is told",
            [.page(["a": 1], upTo: nil, at: 11), .commit(11, [.changed("a")])],
            ["added a 1", "modified a 11", "current 1"]
        ),
        Case(
            "A document deleted before the page was read is not mentioned",
            [.page([:], upTo: nil, at: 11), .commit(11, [.gone("a")])],
            ["current 0"]
        ),
        Case(
            "A document deleted after the page was read is told as deleted",
            [.page(["a": 1], upTo: nil, at: 11), .commit(11, [.gone("a")])],
            ["added a 1", "deleted a", "current 0"]
        ),
        Case(
            "A document changed and deleted before it was read appears and goes",
            [.page([:], upTo: nil, at: 12), .commit(11, [.changed("a")]), .commit(12, [.gone("a")])],
            ["added a 11", "deleted a", "current 0"]
        ),
        Case(
            "Deleted and made again, read in the end, is sent once",
            [.page(["a": 12], upTo: nil, at: 12), .commit(11, [.gone("a")]), .commit(12, [.made("a")])],
            ["added a 12", "current 1"]
        ),
        Case(
            "Deleted after it was read and made again",
            [.page(["a": 1], upTo: nil, at: 12), .commit(11, [.gone("a")]), .commit(12, [.made("a")])],
            ["added a 1", "deleted a", "added a 12", "current 1"]
        ),
        Case(
            "Made after the page was read, behind its beginning",
            [.page(["b": 1], upTo: nil, at: 11), .commit(11, [.made("a")])],
            ["added b 1", "added a 11", "current 2"]
        ),
        Case(
            "A change beyond the pages read so far is left to its page",
            [
                .page(["a": 1], upTo: "a", at: 11), .commit(11, [.changed("b"), .gone("c"), .made("d")]),
                .page(["b": 11, "d": 11], upTo: nil, at: 11),
            ],
            ["added a 1", "added b 11", "added d 11", "current 3"]
        ),
        Case(
            "A change in a page that is settled counts by what the commit says",
            [
                .page(["a": 1], upTo: "b", at: 10), .page(["c": 1], upTo: nil, at: 13),
                .commit(11, [.changed("a")]), .commit(12, [.gone("a")]), .commit(13, [.made("b"), .changed("c")]),
            ],
            ["added a 1", "added c 1", "modified a 11", "deleted a", "added b 13", "modified c 13", "current 2"]
        ),
        Case(
            "Half of a commit shown by a page, the other half is told",
            [.page(["a": 11, "b": 1], upTo: nil, at: 11), .commit(11, [.changed("a"), .changed("b")])],
            ["added a 11", "added b 1", "modified b 11", "current 2"]
        ),
        Case(
            "A file from elsewhere, later than every commit, does not hide its changes",
            [.page(["a": 99], upTo: nil, at: 11), .commit(11, [.changed("a")])],
            ["added a 99", "modified a 11", "current 1"]
        ),
        Case(
            "After current every change is told as it is",
            [.page(["a": 1], upTo: nil, at: 10), .commit(11, [.made("b"), .changed("a")]), .commit(12, [.gone("a")])],
            ["added a 1", "current 1", "added b 11", "modified a 11", "deleted a"]
        ),
        Case(
            "Other collections are of no concern",
            [.page(["a": 1], upTo: nil, at: 10), .commit(11, [.made("../other/x"), .changed("a")])],
            ["added a 1", "current 1", "modified a 11"]
        ),
    ]

    @Test("A document is watched whether it exists or not")
    func document() throws {
        var state = WatchState(target: .document(try DocumentPath("c/a")), at: try Self.position(at: 10))
        var replica = WatchReplica()
        replica.take(state.take(page: [], upTo: nil, at: try Self.position(at: 10)))
        let current = state.current()
        replica.take(try #require(current))
        replica.take(state.take(try Self.commit(11, [.made("a"), .made("b")])))
        replica.take(state.take(try Self.commit(12, [.changed("b")])))
        replica.take(state.take(try Self.commit(13, [.gone("a")])))
        #expect(replica.log == ["current 0", "added a 11", "deleted a"])
        #expect(replica.faults.isEmpty)
        #expect(state.sequence == SequenceNumber(13))
    }

    @Test("Before the state is complete there is nothing to resume from")
    func bookmark() throws {
        var state = WatchState(target: .collection(try CollectionPath("c")), at: try Self.position(at: 10))
        #expect(state.bookmark == nil)
        #expect(state.checkpoint == nil)
        _ = state.take(page: [], upTo: nil, at: try Self.position(at: 11))
        #expect(!state.isSettled)
        #expect(state.current() == nil)
        _ = state.take(try Self.commit(11, [.made("a")]))
        #expect(state.current() != nil)
        #expect(state.current() == nil, "once")
        #expect(state.bookmark?.sequence == SequenceNumber(11))
    }

    @Test("A stream that goes on knows everything up to its token")
    func resuming() throws {
        let target = WatchTarget.collection(try CollectionPath("c"))
        var state = WatchState(
            target: target,
            resumingAfter: WatchToken(target: target, epoch: "e", sequence: SequenceNumber(8), time: try Self.time(8)),
            at: try Self.position(at: 10)
        )
        var log = WatchReplica()
        #expect(!state.isSettled)
        log.take(state.take(try Self.commit(9, [.changed("a")])))
        log.take(state.take(try Self.commit(10, [.gone("a")])))
        #expect(state.isSettled)
        #expect(state.current() == nil)
        #expect(log.log == ["modified a 9", "deleted a"])
    }

    private static func time(_ commit: Int) throws -> Timestamp {
        try Timestamp(microseconds: Int64(commit))
    }

    private static func position(at commit: Int) throws -> StorePosition {
        StorePosition(
            epoch: "e",
            lastSequence: SequenceNumber(UInt64(commit)),
            lastCommitTime: try time(commit),
            oldestKept: SequenceNumber(1)
        )
    }

    private static func path(_ id: String) throws -> DocumentPath {
        try DocumentPath(id.utf8.starts(with: "../".utf8) ? String(id.dropFirst(3)) : "c/" + id)
    }

    private static func document(_ id: String, _ commit: Int) throws -> EncodedDocument {
        EncodedDocument(
            Document(
                path: try path(id),
                fields: ["v": .integer(Int64(commit))],
                createTime: try time(1),
                updateTime: try time(commit)
            )
        )
    }

    private static func commit(_ number: Int, _ changes: [Change]) throws -> Commit {
        Commit(
            sequence: SequenceNumber(UInt64(number)),
            time: try time(number),
            changes: try changes.map { change in
                DocumentChange(
                    path: try path(change.id),
                    before: nil,
                    after: change.existsAfter ? try document(change.id, number) : nil,
                    existedBefore: change.existedBefore
                )
            }
        )
    }
}
