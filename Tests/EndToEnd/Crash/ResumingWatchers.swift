import DocumentModel
import HearthClient
import Synchronization

/// Watchers of collections that resume after each crash of the server and maintain the state of their collections.
final class ResumingWatchers: Sendable {
    private struct State {
        var token: String?
        var order = WatchOrder()
        /// The documents with the number of the commit that wrote them.
        var documents: [DocumentPath: Int] = [:]
    }

    private let states = Mutex<[CollectionPath: State]>([:])

    /// Returns the resume token of a collection; `nil` before the first one.
    func token(of collection: CollectionPath) -> String? {
        states.withLock { $0[collection]?.token }
    }

    /// Adds a frame received by the watcher of a collection; returns an inconsistency, if any.
    func add(_ frame: WatchFrame, _ change: WatchedChange?, of collection: CollectionPath) -> String? {
        states.withLock { states in
            var inconsistency: String?
            var state = states[collection] ?? State()
            if frame.kind == .reset { inconsistency = "a watcher of \(collection) received a reset" }
            if let change {
                inconsistency = state.order.inconsistency(in: change)
                state.documents[change.path] = change.number
            }
            if let token = frame.token { state.token = token }
            states[collection] = state
            return inconsistency
        }
    }

    /// Resumes all watchers and compares their states with a snapshot.
    func check(on connection: HearthConnection, against snapshot: StoreSnapshot) async throws -> [String] {
        var inconsistencies: [String] = []
        for collection in states.withLock({ Array($0.keys) }) {
            for try await frame in try await connection.watch(.collection(collection), resume: token(of: collection)) {
                if let inconsistency = add(frame, try WatchedChange(frame), of: collection) {
                    inconsistencies.append(inconsistency)
                }
                if frame.kind == .current || frame.kind == .checkpoint { break }
            }
            let watched = states.withLock { $0[collection]?.documents ?? [:] }
            let expected = snapshot.documents.filter { $0.key.collection == collection }.compactMapValues(\.fields.commitNumber)
            if watched != expected {
                inconsistencies.append("a resumed watcher of \(collection) has \(watched), expected \(expected)")
            }
        }
        return inconsistencies
    }
}
