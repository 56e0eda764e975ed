import DocumentModel
import HearthClient
import StrictJSON
import Synchronization

/// Watchers of collections that go on, after each crash of the server, with what they were told last, and put together what they
/// are told.
final class ResumingWatchers: Sendable {
    private struct State {
        var token: String?
        var order = WatchOrder()
        /// The documents, each with the commit that wrote it.
        var documents: [DocumentPath: Int] = [:]
    }

    private let states = Mutex<[CollectionPath: State]>([:])

    /// Where a watcher of a collection goes on; nil where it begins.
    func token(of collection: CollectionPath) -> String? {
        states.withLock { $0[collection]?.token }
    }

    /// Takes in what the watcher of a collection is told; returns what is wrong with it.
    func take(_ frame: WatchFrame, _ change: WatchedChange?, of collection: CollectionPath) -> String? {
        states.withLock { states in
            var fault: String?
            var state = states[collection] ?? State()
            if frame.kind == .reset { fault = "a watcher of \(collection) had to begin anew" }
            if let change {
                fault = state.order.fault(in: change)
                state.documents[change.path] = change.number
            }
            if let token = frame.token { state.token = token }
            states[collection] = state
            return fault
        }
    }

    /// Lets all of them be told what they don't know yet, and compares what they know then with what there is.
    func check(on connection: HearthConnection, against snapshot: StoreSnapshot) async throws -> [String] {
        var faults: [String] = []
        for collection in states.withLock({ Array($0.keys) }) {
            for try await frame in try await connection.watch(.collection(collection), resume: token(of: collection)) {
                if let fault = take(frame, try WatchedChange(frame), of: collection) { faults.append(fault) }
                if frame.kind == .current || frame.kind == .checkpoint { break }
            }
            let known = states.withLock { $0[collection]?.documents ?? [:] }
            let there = snapshot.documents.filter { $0.key.collection == collection }.compactMapValues(\.fields.commitNumber)
            if known != there { faults.append("a watcher of \(collection) that went on knows \(known), and there is \(there)") }
        }
        return faults
    }
}
