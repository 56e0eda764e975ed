import DocumentModel
import DocumentStore
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("Collection watch state") struct CollectionWatchStateTests {
    /// A page or a commit that is applied.
    enum Step: Sendable {
        /// Documents as `id: commit`, up to an ID, read at a commit.
        case page([String: Int], upTo: String?, at: Int)
        /// The changes of a commit.
        case commit(Int, [Change])
    }

    struct Change: Sendable {
        let id: String
        let existedBefore: Bool
        let existsAfter: Bool

        static func created(_ id: String) -> Change { Change(id: id, existedBefore: false, existsAfter: true) }
        static func modified(_ id: String) -> Change { Change(id: id, existedBefore: true, existsAfter: true) }
        static func deleted(_ id: String) -> Change { Change(id: id, existedBefore: true, existsAfter: false) }
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

    @Test(arguments: cases)
    func `Frames are correct for all interleavings of reads and commits`(_ test: Case) throws {
        var state = CollectionWatchState(target: .collection(try CollectionPath("c")), at: try Self.position(at: 10))
        var replica = WatchReplica()
        for step in test.steps {
            switch step {
            case .page(let documents, let last, let commit):
                #expect(state.isCaughtUp, "a page is read when the previous one is consistent")
                let page = try documents.sorted { $0.key < $1.key }.map { try Self.document($0.key, $0.value) }
                replica.apply(
                    state.apply(page: page, upTo: try last.map { try DocumentPath.ID($0) }, at: try Self.position(at: commit))
                )
            case .commit(let number, let changes):
                replica.apply(state.apply(try Self.commit(number, changes)))
            }
            if let current = state.current() { replica.apply(current) }
        }
        #expect(replica.log == test.frames)
        #expect(replica.violations.isEmpty)
    }

    static let cases = [
        Case("An empty collection is current immediately", [.page([:], upTo: nil, at: 10)], ["current 0"]),
        Case(
            "Without commits, all pages are sent and the last one completes the state",
            [.page(["a": 1, "b": 2], upTo: "b", at: 10), .page(["c": 3], upTo: nil, at: 10)],
            ["added a 1", "added b 2", "added c 3", "current 3"]
        ),
        Case(
            "A commit that the page includes is not sent again",
            [.page(["a": 11], upTo: nil, at: 11), .commit(11, [.created("a")])],
            ["added a 11", "current 1"]
        ),
        Case(
            "A commit after the read of the page is sent",
            [.page(["a": 1], upTo: nil, at: 11), .commit(11, [.modified("a")])],
            ["added a 1", "modified a 11", "current 1"]
        ),
        Case(
            "A document deleted before the read of the page is not sent",
            [.page([:], upTo: nil, at: 11), .commit(11, [.deleted("a")])],
            ["current 0"]
        ),
        Case(
            "A document deleted after the read of the page is sent as deleted",
            [.page(["a": 1], upTo: nil, at: 11), .commit(11, [.deleted("a")])],
            ["added a 1", "deleted a", "current 0"]
        ),
        Case(
            "A document changed and deleted before its read is added and deleted",
            [.page([:], upTo: nil, at: 12), .commit(11, [.modified("a")]), .commit(12, [.deleted("a")])],
            ["added a 11", "deleted a", "current 0"]
        ),
        Case(
            "A document deleted and recreated before its read is sent once",
            [.page(["a": 12], upTo: nil, at: 12), .commit(11, [.deleted("a")]), .commit(12, [.created("a")])],
            ["added a 12", "current 1"]
        ),
        Case(
            "A document deleted and recreated after its read is sent twice",
            [.page(["a": 1], upTo: nil, at: 12), .commit(11, [.deleted("a")]), .commit(12, [.created("a")])],
            ["added a 1", "deleted a", "added a 12", "current 1"]
        ),
        Case(
            "A document created within the page after its read is added",
            [.page(["b": 1], upTo: nil, at: 11), .commit(11, [.created("a")])],
            ["added b 1", "added a 11", "current 2"]
        ),
        Case(
            "A change beyond the pages read so far is sent with its page",
            [
                .page(["a": 1], upTo: "a", at: 11), .commit(11, [.modified("b"), .deleted("c"), .created("d")]),
                .page(["b": 11, "d": 11], upTo: nil, at: 11),
            ],
            ["added a 1", "added b 11", "added d 11", "current 3"]
        ),
        Case(
            "A change in a consistent page is sent as in the commit",
            [
                .page(["a": 1], upTo: "b", at: 10), .page(["c": 1], upTo: nil, at: 13),
                .commit(11, [.modified("a")]), .commit(12, [.deleted("a")]), .commit(13, [.created("b"), .modified("c")]),
            ],
            ["added a 1", "added c 1", "modified a 11", "deleted a", "added b 13", "modified c 13", "current 2"]
        ),
        Case(
            "The part of a commit that the page does not include is sent",
            [.page(["a": 11, "b": 1], upTo: nil, at: 11), .commit(11, [.modified("a"), .modified("b")])],
            ["added a 11", "added b 1", "modified b 11", "current 2"]
        ),
        Case(
            "An imported file with a future update time does not hide later changes",
            [.page(["a": 99], upTo: nil, at: 11), .commit(11, [.modified("a")])],
            ["added a 99", "modified a 11", "current 1"]
        ),
        Case(
            "After the initial state, all changes are sent",
            [.page(["a": 1], upTo: nil, at: 10), .commit(11, [.created("b"), .modified("a")]), .commit(12, [.deleted("a")])],
            ["added a 1", "current 1", "added b 11", "modified a 11", "deleted a"]
        ),
        Case(
            "Changes in other collections are ignored",
            [.page(["a": 1], upTo: nil, at: 10), .commit(11, [.created("../other/x"), .modified("a")])],
            ["added a 1", "current 1", "modified a 11"]
        ),
    ]

    @Test
    func `A missing document can be watched`() throws {
        var state = CollectionWatchState(target: .document(try DocumentPath("c/a")), at: try Self.position(at: 10))
        var replica = WatchReplica()
        replica.apply(state.apply(page: [], upTo: nil, at: try Self.position(at: 10)))
        let current = state.current()
        replica.apply(try #require(current))
        replica.apply(state.apply(try Self.commit(11, [.created("a"), .created("b")])))
        replica.apply(state.apply(try Self.commit(12, [.modified("b")])))
        replica.apply(state.apply(try Self.commit(13, [.deleted("a")])))
        #expect(replica.log == ["current 0", "added a 11", "deleted a"])
        #expect(replica.violations.isEmpty)
        #expect(state.sequence == SequenceNumber(13))
    }

    @Test
    func `There is no resume token before the initial state is complete`() throws {
        var state = CollectionWatchState(target: .collection(try CollectionPath("c")), at: try Self.position(at: 10))
        #expect(state.resumeToken == nil)
        #expect(state.heartbeat == nil)
        _ = state.apply(page: [], upTo: nil, at: try Self.position(at: 11))
        #expect(!state.isCaughtUp)
        #expect(state.current() == nil)
        _ = state.apply(try Self.commit(11, [.created("a")]))
        #expect(state.current() != nil)
        #expect(state.current() == nil, "only once")
        #expect(state.resumeToken?.sequence == SequenceNumber(11))
    }

    @Test
    func `A resumed stream has the state at its token`() throws {
        let target = PreparedWatchTarget.collection(try CollectionPath("c"))
        var state = CollectionWatchState(
            target: target,
            resumingAfter: ResumeToken(target: target, epoch: "e", sequence: SequenceNumber(8), time: try Self.time(8)),
            at: try Self.position(at: 10)
        )
        var log = WatchReplica()
        #expect(!state.isCaughtUp)
        log.apply(state.apply(try Self.commit(9, [.modified("a")])))
        log.apply(state.apply(try Self.commit(10, [.deleted("a")])))
        #expect(state.isCaughtUp)
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
            oldestRetained: SequenceNumber(1)
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
                CommittedChange(
                    path: try path(change.id),
                    before: nil,
                    after: change.existsAfter ? try document(change.id, number) : nil,
                    existedBefore: change.existedBefore
                )
            }
        )
    }
}
