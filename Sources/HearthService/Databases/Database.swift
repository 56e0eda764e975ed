import DocumentModel
import DocumentStore
import Synchronization

/// A database beside the default one, as all its callers share it: its store, or what there is instead while nothing was ever
/// written to it.
final class Database: Sendable {
    let id: DatabaseID
    let transactions: Transactions
    /// How fast commits have come since it was opened.
    let commitRates = CommitRates()
    private let state: Mutex<State>

    private struct State {
        var content: Content
        var useCount = 0
        var lastUse = ContinuousClock.now
        /// Who has waited for the first commit since before there was a store.
        var waiters: [UInt64: Waiter] = [:]
        var waiterCount: UInt64 = 0
    }

    /// What stands behind the name.
    enum Content: Sendable {
        /// Nothing was written yet; how it begins.
        case nothing(DatabaseIdentity)
        case store(FileStore)
        /// It was closed or deleted under those who use it, at a position.
        case ended(StorePosition, Ending)
    }

    /// Why nobody may use a database any more.
    enum Ending: Sendable {
        case closed
        case deleted
    }

    private enum Waiter {
        case waiting(after: SequenceNumber, @Sendable () -> Void)
        /// The store tells it.
        case moved(CommitNotification)
    }

    init(_ id: DatabaseID, _ content: Content, transactions: Transactions) {
        self.id = id
        self.transactions = transactions
        state = Mutex(State(content: content))
    }

    /// What stands behind the name now.
    var content: Content { state.withLock(\.content) }

    /// The store; nil while there is none, or none any more.
    var store: FileStore? {
        if case .store(let store) = content { store } else { nil }
    }

    /// Where the log of commits stands.
    var position: StorePosition {
        switch content {
        case .nothing(let identity): identity.position
        case .store(let store): store.position
        case .ended(let position, _): position
        }
    }

    /// Takes the store of a database that is made by its first write.
    func adopt(_ store: FileStore) {
        let waiters = state.withLock { state in
            state.content = .store(store)
            return state.waiters
        }
        for case (let id, .waiting(let sequence, let body)) in waiters {
            let notification = store.notify(after: sequence, body)
            let isWanted = state.withLock { state in
                guard state.waiters[id] != nil else { return false }
                state.waiters[id] = .moved(notification)
                return true
            }
            if !isWanted { notification.cancel() }
        }
    }

    /// Lets nobody use the database any more. Who waits for a commit learns that there will be none.
    func end(_ ending: Ending) {
        let position = position
        let waiters = state.withLock { state in
            state.content = .ended(position, ending)
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for case .waiting(_, let body) in waiters { body() }
    }

    /// Calls `body` once, as soon as there is a commit after `sequence`, or never will be.
    func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        let (content, id) = state.withLock { state -> (Content, UInt64) in
            if case .nothing = state.content {
                state.waiterCount += 1
                state.waiters[state.waiterCount] = .waiting(after: sequence, body)
            }
            return (state.content, state.waiterCount)
        }
        switch content {
        case .nothing:
            return CommitNotification { [weak self] in
                let waiter = self?.state.withLock { $0.waiters.removeValue(forKey: id) }
                if case .moved(let notification)? = waiter { notification.cancel() }
            }
        case .store(let store):
            return store.notify(after: sequence, body)
        case .ended:
            body()
            return CommitNotification {}
        }
    }
}

// Who uses it.
extension Database {
    func beginUse() {
        state.withLock { $0.useCount += 1 }
    }

    func endUse() {
        state.withLock { state in
            state.useCount -= 1
            state.lastUse = .now
        }
    }

    /// Since when nobody uses it; nil while somebody does, or has a transaction open.
    var idleSince: ContinuousClock.Instant? {
        guard !transactions.areOpen else { return nil }
        return state.withLock { $0.useCount == 0 ? $0.lastUse : nil }
    }
}
