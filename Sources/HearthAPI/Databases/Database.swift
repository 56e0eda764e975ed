import DocumentModel
import DocumentStore
import Synchronization

/// An additional database, shared by its leases: its store, or its identity until the first write creates the store.
final class Database: Sendable {
    let id: DatabaseID
    let transactions: TransactionRegistry
    let rules: DatabaseRules
    /// The commit rates since the database was opened.
    let commitRates = CommitRates()
    private let shared: Mutex<SharedState>

    private struct SharedState {
        var state: State
        var leaseCount = 0
        var lastRelease = ContinuousClock.now
        /// Registrations for the first commit that were made before the store existed.
        var subscriptions: [UInt64: Subscription] = [:]
        var lastSubscriptionID: UInt64 = 0
    }

    enum State: Sendable {
        /// The database does not exist; the first write creates it with this identity.
        case absent(DatabaseIdentity)
        case open(any ClosableStore)
        /// The database was closed at a position while leases existed.
        case closed(StorePosition, CloseReason)
    }

    enum CloseReason: Sendable {
        /// The database was closed in favor of another one, or by the shutdown of the server.
        case evicted
        case deleted
    }

    private enum Subscription {
        case waiting(after: SequenceNumber, @Sendable () -> Void)
        /// The registration was transferred to the store.
        case transferred(CommitNotification)
    }

    init(_ id: DatabaseID, _ state: State, transactions: TransactionRegistry, rules: DatabaseRules) {
        self.id = id
        self.rules = rules
        self.transactions = transactions
        shared = Mutex(SharedState(state: state))
    }

    var state: State { shared.withLock(\.state) }

    /// The store, or `nil` before the database is created and after it is closed.
    var store: (any ClosableStore)? {
        if case .open(let store) = state { store } else { nil }
    }

    /// The epoch of the store; `nil` if there is none.
    var knownEpoch: String? { store?.position.epoch }

    /// The position of the commit log.
    var position: StorePosition {
        switch state {
        case .absent(let identity): identity.position
        case .open(let store): store.position
        case .closed(let position, _): position
        }
    }

    /// The restart count of the position.
    var restartCount: Int {
        switch state {
        case .absent(let identity): identity.position.restartCount
        case .open(let store): store.restartCount
        case .closed(let position, _): position.restartCount
        }
    }

    /// Attaches the store that the first write has created, and transfers the subscriptions to it.
    func attach(_ store: any ClosableStore) {
        let subscriptions = shared.withLock { shared in
            shared.state = .open(store)
            return shared.subscriptions
        }
        for case (let id, .waiting(let sequence, let body)) in subscriptions {
            let notification = store.notify(after: sequence, body)
            let isRegistered = shared.withLock { shared in
                guard shared.subscriptions[id] != nil else { return false }
                shared.subscriptions[id] = .transferred(notification)
                return true
            }
            if !isRegistered { notification.cancel() }
        }
    }

    /// Closes the database for all leases, and notifies the subscribers: no more commits follow.
    func close(_ reason: CloseReason) {
        let position = position
        let subscriptions = shared.withLock { shared in
            shared.state = .closed(position, reason)
            defer { shared.subscriptions = [:] }
            return Array(shared.subscriptions.values)
        }
        for case .waiting(_, let body) in subscriptions { body() }
    }

    /// Calls `body` once, as soon as a commit after `sequence` exists or the database is closed.
    func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        let (state, id) = shared.withLock { shared -> (State, UInt64) in
            if case .absent = shared.state {
                shared.lastSubscriptionID += 1
                shared.subscriptions[shared.lastSubscriptionID] = .waiting(after: sequence, body)
            }
            return (shared.state, shared.lastSubscriptionID)
        }
        switch state {
        case .absent:
            return CommitNotification { [weak self] in
                let subscription = self?.shared.withLock { $0.subscriptions.removeValue(forKey: id) }
                if case .transferred(let notification)? = subscription { notification.cancel() }
            }
        case .open(let store):
            return store.notify(after: sequence, body)
        case .closed:
            body()
            return CommitNotification {}
        }
    }

    func retain() {
        shared.withLock { $0.leaseCount += 1 }
    }

    func release() {
        shared.withLock { shared in
            shared.leaseCount -= 1
            shared.lastRelease = .now
        }
    }

    /// The time of the last release of a lease, or `nil` while the database has leases or open transactions.
    var idleSince: ContinuousClock.Instant? {
        guard !transactions.hasOpenTransactions else { return nil }
        return shared.withLock { $0.leaseCount == 0 ? $0.lastRelease : nil }
    }
}
