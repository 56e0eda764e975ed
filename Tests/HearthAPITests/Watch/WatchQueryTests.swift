import DocumentModel
import DocumentStore
import DocumentStoreConformance
import JSONRPC
import StrictJSON
import Synchronization
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("Watching queries", .timeLimit(.minutes(10))) struct WatchQueryTests {
    private let collection: StructuredQuery.Source
    private let v: FieldPath
    private let byV: StructuredQuery.Order

    init() throws {
        v = try FieldPath("v")
        byV = StructuredQuery.Order(.field(v), .ascending)
        collection = .collection(try CollectionPath("c"))
    }

    private func target(_ query: StructuredQuery) throws -> PreparedWatchTarget {
        .query(try PreparedWatchQuery(query, canonicalText: UTF8Key("query=\(query)")))
    }

    /// Applies each change after the frames of the previous one, and returns the log of frames.
    private func log(
        of query: StructuredQuery,
        _ store: MemoryStore,
        _ changes: [(MemoryStore) throws -> Void]
    ) async throws -> [String] {
        var replica = WatchReplica()
        var changes = changes[...]
        let session = try await WatchSession(WatchRequest(target: target(query)), in: ServiceContext(store: store))
        for try await frames in session {
            replica.apply(frames)
            guard replica.isCurrent else { continue }
            if let change = changes.popFirst() { try change(store) } else { session.end(nil) }
        }
        #expect(replica.violations.isEmpty)
        return Array(replica.log.drop { !$0.utf8.starts(with: "current".utf8) })
    }

    @Test
    func `Queries are equal regardless of their JSON representation`() throws {
        let texts = [
            #"{"collection":"c","where":{"field":"v","op":"==","value":"é"},"limit":10}"#,
            #"{ "limit" : 10, "where": {"value": "\u00e9", "op": "==", "field": "\u0076"}, "collection": "c" }"#,
        ]
        let queries = try texts.map { try PreparedWatchQuery(json: JSONText(Array($0.utf8)).root, at: .params) }
        #expect(queries[0] == queries[1])
    }

    @Test
    func `Documents are added when they start to match and removed when they stop`() async throws {
        let store = MemoryStore()
        for version in 1...4 as ClosedRange<Int64> { try store.set("c/\(version)", version) }
        let query = StructuredQuery(collection, where: .field(v, .greater(.integer(2))))
        let log = try await log(
            of: query,
            store,
            [
                { store in
                    try store.set("c/1", 9)
                },
                { store in
                    try store.set("c/3", 0)
                },
                { store in
                    try store.set("c/4", 5)
                },
                { store in
                    try store.delete("c/4")
                },
                { store in
                    try store.apply([
                        .set(DocumentPath("c/2"), ["v": .integer(1)]), .set(DocumentPath("c/1"), ["v": .integer(8)]),
                    ])
                },
            ]
        )
        #expect(log == ["current 2", "added 1 9", "removed 3", "modified 4 5", "deleted 4", "modified 1 8"])
    }

    @Test
    func `A query with an offset runs far less often than there are commits, and its frames lead to the last result`()
        async throws
    {
        let runs = Mutex(0)
        let store = MemoryStore(beforeQuery: {
            runs.withLock { $0 += 1 }
            try? await Task.sleep(for: .milliseconds(2))
        })
        for version in 0..<20 as Range<Int64> { try store.set("c/\(version + 100)", version) }
        let query = StructuredQuery(collection, orders: [byV], offset: 10, limit: .first(5))
        let target = try target(query)
        let request = WatchRequest(
            target: target,
            heartbeat: .seconds(1),
            runBudget: WatchRunBudget(share: 0.1, maximumBalance: .zero)
        )
        let context = ServiceContext(store: store)
        var replica = WatchReplica()
        let count: Int64 = 300
        for try await frames in try await WatchSession(request, in: context) {
            let wasCurrent = replica.isCurrent
            replica.apply(frames)
            if replica.isCurrent, !wasCurrent {
                // Each moves the result: a document before it is inserted or deleted.
                for number in 1...count {
                    if number.isMultiple(of: 3) {
                        try store.delete("c/\(number - 1)")
                    } else {
                        try store.set("c/\(number)", -number)
                    }
                }
            }
            if replica.sequence == store.position.lastSequence { break }
        }
        #expect(replica.violations.isEmpty, "\(replica.violations)")
        #expect(runs.withLock { $0 } < 30)
        let result = try await store.run(NormalizedQuery(query), maximumBytes: 1 << 20, readTime: nil)
        #expect(replica.ranking == result.documents.map(\.path))
        // The token continues where the frames end.
        let resumed = WatchRequest(target: target, resume: replica.token, onExpired: .fail)
        replica.resume()
        try store.set("c/0", -1_000)
        try await WatchSession(resumed, in: context).follow(into: &replica) { $0.sequence == store.position.lastSequence }
        #expect(replica.violations.isEmpty, "\(replica.violations)")
        let later = try await store.run(NormalizedQuery(query), maximumBytes: 1 << 20, readTime: nil)
        #expect(replica.ranking == later.documents.map(\.path))
    }

    @Test
    func `A budget for runs delays them in proportion to their time, after a number in quick succession`() {
        var budget = WatchRunBudget(share: 0.1, maximumBalance: .milliseconds(500))
        let start = ContinuousClock.now
        let delay = { (budget: inout WatchRunBudget, seconds: Int) in
            (budget.delay(at: start + .seconds(seconds)) / .milliseconds(1)).rounded()
        }
        #expect(delay(&budget, 0) == 0)
        budget.spend(.milliseconds(400), at: start)
        #expect(delay(&budget, 0) == 0)
        budget.spend(.milliseconds(400), at: start)
        #expect(delay(&budget, 0) == 3_000)
        #expect(delay(&budget, 2) == 1_000)
        #expect(delay(&budget, 60) == 0)
        budget.spend(.milliseconds(600), at: start + .seconds(60))
        #expect(delay(&budget, 60) == 1_000)
        // A run that waited for others does not silence the stream.
        budget.spend(.seconds(30), at: start + .seconds(60))
        #expect(delay(&budget, 60) == 10_000)
    }

    @Test
    func `Documents beyond a limit are removed, and replacements are added`() async throws {
        let store = MemoryStore()
        for version in 1...5 as ClosedRange<Int64> { try store.set("c/\(version)", version * 10) }
        let query = StructuredQuery(collection, orders: [byV], limit: .first(2))
        let log = try await log(
            of: query,
            store,
            [
                { store in
                    try store.set("c/5", 15)
                },
                { store in
                    try store.delete("c/1")
                },
                { store in
                    try store.set("c/5", 25)
                },
                { store in
                    try store.set("c/2", 90)
                },
                { store in
                    try store.set("c/4", 41)
                    try store.set("c/3", 31)
                },
            ]
        )
        #expect(
            log == [
                "current 2", "removed 2", "added 5 15", "deleted 1", "added 2 20", "modified 5 25", "removed 2", "added 3 30",
                "modified 3 31",
            ]
        )
    }

    /// The queries of documents up to a version of 30, without a limit, with one, and with an offset.
    private func queries(select: [FieldPath] = []) -> [StructuredQuery] {
        let filter = QueryFilter.field(v, .lessOrEqual(.integer(30)))
        return [
            StructuredQuery(collection, where: filter, projection: select),
            StructuredQuery(collection, where: filter, orders: [byV], limit: .first(2), projection: select),
            StructuredQuery(collection, where: filter, orders: [byV], offset: 1, limit: .first(1), projection: select),
        ]
    }

    /// Returns the removals of a stream: their path, and the fields of their document.
    private func removals(
        _ query: StructuredQuery,
        _ contents: WatchRequest.Contents = .document,
        in store: MemoryStore,
        _ changes: [[Write]]
    ) async throws -> [String] {
        var replica = WatchReplica()
        var changes = changes[...]
        var removals: [String] = []
        let request = WatchRequest(target: try target(query), contents: contents)
        let session = try await WatchSession(request, in: ServiceContext(store: store))
        for try await frames in session {
            replica.apply(frames)
            for change in frames.changes where change.kind == .removed {
                let fields = change.document.map { String(decoding: $0.fieldsJSON, as: UTF8.self) }
                removals.append("\(change.path.id) \(fields ?? "-")")
            }
            guard replica.isCurrent else { continue }
            if let change = changes.popFirst() { try store.apply(change) } else { session.end(nil) }
        }
        // Without documents, a replica has none to compare.
        if contents != .paths { #expect(replica.violations.isEmpty, "\(replica.violations)") }
        return removals
    }

    private func write(_ id: String, _ version: Int64) throws -> Write {
        try .set(DocumentPath("c/\(id)"), ["v": .integer(version), "w": .integer(1)])
    }

    @Test func `A removed document is as of the commit, whether changed or displaced`() async throws {
        for (query, expected) in zip(
            queries(),
            [
                [#"b {"v":40,"w":1}"#],
                [#"b {"v":40,"w":1}"#, #"c {"v":30,"w":1}"#],
                [#"b {"v":40,"w":1}"#, #"c {"v":30,"w":1}"#],
            ]
        ) {
            let store = MemoryStore()
            for (id, version) in [("a", 10), ("b", 20), ("c", 30)] as [(String, Int64)] { try store.apply([write(id, version)]) }
            // The second displaces a document without changing it.
            let changes = try [[write("b", 40)], [write("d", 5)], [.delete(DocumentPath("c/a"))]]
            let found = try await removals(query, in: store, changes)
            #expect(found == expected, "\(query)")
        }
    }

    @Test func `A removed document has the selected fields, and none with paths`() async throws {
        for contents in WatchRequest.Contents.allCases {
            for query in try queries(select: [FieldPath("w")]) {
                let store = MemoryStore()
                for (id, version) in [("a", 10), ("b", 20)] as [(String, Int64)] { try store.apply([write(id, version)]) }
                let changes = try [[write("b", 40)], [write("b", 9)], [write("0", 1), write("1", 1)]]
                let found = try await removals(query, contents, in: store, changes)
                #expect(found.contains { $0.utf8.starts(with: "b ".utf8) })
                #expect(found.allSatisfy { $0.hasSuffix(contents == .paths ? " -" : #" {"w":1}"#) }, "\(found)")
            }
        }
    }

    @Test(arguments: [false, true])
    func `Indexes apply after the previous frames`(isReversed: Bool) async throws {
        let store = MemoryStore()
        for version in 1...4 as ClosedRange<Int64> { try store.set("c/\(version)", version * 10) }
        let query = StructuredQuery(
            collection,
            orders: [StructuredQuery.Order(.field(v), isReversed ? .descending : .ascending)],
            limit: isReversed ? .last(10) : Optional.none
        )
        var frames: [OutgoingWatchFrame.Change] = []
        let session = try await WatchSession(WatchRequest(target: target(query)), in: ServiceContext(store: store))
        for try await batch in session {
            for case .change(let change, .some) in batch { frames.append(change) }
            if case .current? = batch.last {
                try store.apply([
                    .delete(DocumentPath("c/1")), .set(DocumentPath("c/2"), ["v": .integer(50)]),
                    .set(DocumentPath("c/0"), ["v": .integer(35)]),
                ])
            }
            if !frames.isEmpty { session.end(nil) }
        }
        let changes = frames.map { "\($0.kind) \($0.path.id) \($0.oldIndex ?? -1) \($0.newIndex ?? -1)" }
        // 10 20 30 40 → 20 30 40 → 20 30 35 40 → 30 35 40 50, or reversed.
        #expect(
            changes
                == (isReversed
                    ? ["deleted 1 3 -1", "added 0 -1 1", "modified 2 3 0"]
                    : ["deleted 1 0 -1", "added 0 -1 2", "modified 2 0 3"])
        )
    }

    @Test
    func `A stream is resumed after the token of any frame with the result at the token`() async throws {
        for query in [
            StructuredQuery(collection, orders: [byV], limit: .first(2)),
            StructuredQuery(collection, where: .field(v, .less(.integer(5)))),
        ] {
            let store = MemoryStore()
            let target = try target(query)
            for version in 1...6 as ClosedRange<Int64> { try store.set("c/\(version)", version) }
            var replica = WatchReplica()
            let context = ServiceContext(store: store)
            try await WatchSession(WatchRequest(target: target), in: context).follow(into: &replica) { $0.isCurrent }
            for round in 1...5 as ClosedRange<Int64> {
                try store.delete("c/\(round)")
                try store.set("c/x", 10 - 2 * round)
                replica.resume()
                let request = WatchRequest(target: target, resume: replica.token, onExpired: .fail)
                try await WatchSession(request, in: context).follow(into: &replica) { $0.log.last == "checkpoint" }
            }
            #expect(replica.violations.isEmpty)
            guard case .query(let watched) = target else { return }
            let documents = try await store.run(watched.query, maximumBytes: .max, readTime: nil).documents
            #expect(replica.documents.values.sorted { $0.path < $1.path } == documents.sorted { $0.path < $1.path })
        }
    }

    @Test
    func `A stream of a query that falls behind the retained commits is reset`() async throws {
        let store = MemoryStore()
        try store.set("c/a", 1)
        var replica = WatchReplica()
        let session = try await WatchSession(
            WatchRequest(target: target(StructuredQuery(collection, orders: [byV], limit: .first(1)))),
            in: ServiceContext(store: store)
        )
        for try await frames in session {
            replica.apply(frames)
            if replica.log == ["open", "added a 1", "current 1"] {
                for version in 2...5 as ClosedRange<Int64> { try store.set("c/a", version) }
                store.discardHistory(keeping: 1)
            } else if replica.log.last == "current 1" {
                break
            }
        }
        #expect(replica.log == ["open", "added a 1", "current 1", "reset lagged", "added a 5", "current 1"])
    }

    @Test(arguments: [true, false])
    func `A stream that starts now has no initial state but all changes`(isOrdered: Bool) async throws {
        let store = MemoryStore()
        try store.set("c/a", 1)
        var replica = WatchReplica()
        let query = StructuredQuery(collection, orders: isOrdered ? [byV] : [])
        let session = try await WatchSession(
            WatchRequest(target: target(query), start: .now),
            in: ServiceContext(store: store)
        )
        for try await frames in session {
            replica.apply(frames)
            if replica.log == ["open", "checkpoint"] { try store.set("c/b", 2) }
            if replica.log.last == "added b 2" { break }
        }
        #expect(replica.log == ["open", "checkpoint", "added b 2"])
    }

    @Test
    func `Frames contain paths only, or before-images, on request`() async throws {
        for contents in WatchRequest.Contents.allCases {
            let store = MemoryStore()
            try store.set("c/a", 1)
            var changes: [OutgoingWatchFrame.Change] = []
            let request = WatchRequest(target: .collection(try CollectionPath("c")), contents: contents)
            let session = try await WatchSession(request, in: ServiceContext(store: store))
            for try await frames in session {
                for case .change(let change, _) in frames { changes.append(change) }
                if case .current? = frames.last { try store.set("c/a", 2) }
                if changes.count == 2 { try store.delete("c/a") }
                if changes.count == 3 { break }
            }
            #expect(changes.map(\.kind) == [.added, .modified, .deleted])
            #expect(changes.map { $0.document != nil } == (contents == .paths ? [false, false, false] : [true, true, false]))
            #expect(changes.map { $0.before != nil } == (contents == .before ? [false, true, true] : [false, false, false]))
        }
    }

    @Test
    func `A stream ends after its limit of changes, at the end of a commit, and can be resumed`() async throws {
        let store = MemoryStore()
        let target = PreparedWatchTarget.collection(try CollectionPath("c"))
        var replica = WatchReplica()
        for try await frames in try await WatchSession(WatchRequest(target: target, limit: 2), in: ServiceContext(store: store)) {
            replica.apply(frames)
            if replica.log.last == "current 0" {
                try store.set("c/a", 1)
                try store.apply((1...3).map { try .set(DocumentPath("c/b\($0)"), ["v": .integer(2)]) })
                try store.set("c/c", 3)
            }
        }
        #expect(replica.log == ["open", "current 0", "added a 1", "added b1 2", "added b2 2", "added b3 2", "end limit"])
        replica.resume()
        let rest = try await WatchSession(WatchRequest(target: target, resume: replica.token), in: ServiceContext(store: store))
        try await rest.follow(into: &replica) { $0.log.last == "checkpoint" }
        #expect(replica.log.suffix(3) == ["open", "added c 3", "checkpoint"])
        #expect(replica.violations.isEmpty)
    }

    @Test
    func `A coalescing stream that has fallen behind gets the net changes`() async throws {
        let store = MemoryStore()
        try store.set("c/a", 1)
        let target = PreparedWatchTarget.collection(try CollectionPath("c"))
        var replica = WatchReplica()
        for try await frames in try await WatchSession(
            WatchRequest(target: target, coalesces: true),
            in: ServiceContext(store: store)
        ) {
            replica.apply(frames)
            if replica.log.last == "current 1" {
                for version in 2...9 as ClosedRange<Int64> { try store.set("c/a", version) }
                try store.set("c/gone", 1)
                try store.delete("c/gone")
                try store.set("c/b", 1)
            } else if replica.isCurrent {
                break
            }
        }
        #expect(replica.log == ["open", "added a 1", "current 1", "modified a 9", "added b 1"])
        #expect(replica.violations.isEmpty)
        #expect(replica.sequence == store.position.lastSequence)
    }

    @Test
    func `A vector search cannot be watched`() throws {
        var query = StructuredQuery(collection)
        query.vectorSearch = VectorSearch(field: v, vector: [1], measure: .euclidean, limit: 1)
        let error = #expect(throws: StatusError.self) { try target(query) }
        #expect(error?.code == .invalidArgument)
    }
}
