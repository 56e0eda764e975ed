import Foundation
import HearthClient
import Synchronization
import TestSupport
import Testing

extension OfflineTests {
    @Suite("Convergence of clients", .tags(.slow), .timeLimit(.minutes(10)))
    struct ConvergenceTests {
        @Test(arguments: [0, 1])
        func `Whatever clients have done without a network, all show what the server has in the end`(round: UInt64) async throws {
            let seed = SeededGenerator.currentSeed &+ round &* 100
            try await withServer { server in
                let proxy = try CuttingProxy(to: try #require(URL(string: server.address)?.port))
                defer { proxy.stop() }
                let caches: [any LocalCacheSettings] = [
                    MemoryCacheSettings(), MemoryCacheSettings(garbageCollectorSettings: MemoryLRUGCSettings()),
                    PersistentCacheSettings(sizeBytes: (1 << 20) as NSNumber, folder: server.folder.appending(path: "../caches")),
                ]
                let clients = caches.enumerated().map { number, cache in
                    RandomClient(OfflineDatabase.firestore(port: proxy.port, cache), seed: seed &+ UInt64(number))
                }
                let increments = try await withThrowingTaskGroup(of: Int.self) { group in
                    for client in clients { group.addTask { try await client.run() } }
                    group.addTask {
                        for _ in 0..<6 {
                            try await Task.sleep(for: .milliseconds(200))
                            proxy.cut(after: nil)
                        }
                        return 0
                    }
                    return try await group.reduce(0, +)
                }
                let owner = server.firestore
                #expect(
                    try await owner.document("counters/all").getDocument().get("n") as? Int ?? 0 == increments,
                    "seed \(seed)"
                )
                let expected = try await RandomClient.results(in: owner)
                for client in clients {
                    try await client.expect(expected)
                    #expect(try await RandomClient.results(in: client.firestore) == expected, "seed \(seed)")
                    try await client.firestore.terminate()
                }
                try await owner.terminate()
            }
        }
    }
}

/// A client that writes at random, with listeners whose changes are replayed.
private final class RandomClient: Sendable {
    let firestore: Firestore
    private let random: Mutex<SeededGenerator>
    private let lists: [ReplayedList]

    init(_ firestore: Firestore, seed: UInt64) {
        self.firestore = firestore
        random = Mutex(SeededGenerator(seed: seed))
        lists = Self.queries(in: firestore).map { ReplayedList($0) }
    }

    private static func queries(in firestore: Firestore) -> [Query] {
        let items = firestore.collection("items")
        return [
            items, items.order(by: "rank").limit(to: 3),
            items.whereField("done", isEqualTo: true).order(by: "rank", descending: true),
            items.order(by: "rank").limit(toLast: 2),
        ]
    }

    /// Returns the results of the queries, each document as text.
    static func results(in firestore: Firestore) async throws -> [[String]] {
        var results: [[String]] = []
        for query in queries(in: firestore) { results.append(try await query.getDocuments().documents.map(\.text)) }
        return results
    }

    private func next(_ range: Range<Int>) -> Int {
        random.withLock { Int.random(in: range, using: &$0) }
    }

    /// Makes writes, and returns the number of increments when the server has answered all of them.
    func run() async throws -> Int {
        var increments = 0
        for _ in 0..<60 {
            let item = firestore.document("items/\(next(0..<8))")
            switch next(0..<10) {
            case 0..<4:
                let isDone = next(0..<2) == 0
                let data: [String: Any] = ["rank": next(0..<50), "done": isDone, "time": FieldValue.serverTimestamp()]
                item.setData(data, completion: nil)
            case 4:
                item.updateData(["rank": next(0..<50)], completion: nil)
            case 5:
                item.delete(completion: nil)
            case 6, 7:
                increments += 1
                let counter = firestore.document("counters/all")
                counter.setData(["n": FieldValue.increment(Int64(1))], merge: true, completion: nil)
            case 8:
                try await firestore.disableNetwork()
            default:
                try await firestore.enableNetwork()
            }
            try await Task.sleep(for: .milliseconds(next(1..<30)))
        }
        try await firestore.enableNetwork()
        try await firestore.waitForPendingWrites()
        return increments
    }

    /// Waits until the listeners show the results of the server.
    func expect(_ results: [[String]]) async throws {
        for (list, expected) in zip(lists, results) {
            try await eventually { list.isSynced && list.documents == expected }
            list.remove()
            #expect(list.errors == [])
        }
    }
}

/// The result of a query, as replayed from the changes that its listener is told.
private final class ReplayedList: Sendable {
    private struct State {
        var replayed: [String] = []
        var isSynced = false
        var errors: [String] = []
        var registration: (any ListenerRegistration)?
    }

    private let state = Mutex(State())

    init(_ query: Query) {
        let registration = query.addSnapshotListener(includeMetadataChanges: true) { [weak self] snapshot, error in
            self?.receive(snapshot, error)
        }
        state.withLock { $0.registration = registration }
    }

    var documents: [String] { state.withLock(\.replayed) }
    var isSynced: Bool { state.withLock(\.isSynced) }
    var errors: [String] { state.withLock(\.errors) }

    func remove() {
        state.withLock(\.registration)?.remove()
    }

    private func receive(_ snapshot: QuerySnapshot?, _ error: (any Error)?) {
        state.withLock { state in
            guard let snapshot else {
                state.errors.append("\(String(describing: error))")
                return
            }
            for change in snapshot.documentChanges(includeMetadataChanges: true) {
                if change.oldIndex != UInt(NSNotFound) { state.replayed.remove(at: Int(change.oldIndex)) }
                if change.newIndex != UInt(NSNotFound) { state.replayed.insert(change.document.text, at: Int(change.newIndex)) }
            }
            if state.replayed != snapshot.documents.map(\.text) {
                state.errors.append("replayed \(state.replayed), listed \(snapshot.documents.map(\.text))")
            }
            if snapshot.metadata.hasPendingWrites != snapshot.documents.contains(where: \.metadata.hasPendingWrites) {
                state.errors.append("pending writes of \(snapshot.documents.map(\.documentID))")
            }
            state.isSynced = !snapshot.metadata.isFromCache && !snapshot.metadata.hasPendingWrites
        }
    }
}

extension DocumentSnapshot {
    /// The ID and the fields, in order of their names.
    fileprivate var text: String {
        let fields = (data() ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return "\(documentID) \(fields.joined(separator: ", "))"
    }
}
