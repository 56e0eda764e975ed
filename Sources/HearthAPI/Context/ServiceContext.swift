package import DocumentModel
package import DocumentStore

/// The environment of a method call: the store, the server, open transactions, API keys, and the caller.
///
/// The server has one system context. ``withCaller(_:)`` derives the context of a caller from it. Swift code in the server makes
/// typed calls:
///
/// ```swift
/// let page = try await ListDocuments.call(.init(collection: books, pageSize: 50), in: context)
/// ```
///
/// A class, because a context is passed on at each step of a call.
package final class ServiceContext: Sendable {
    /// The documents, restricted to what the caller has access to.
    package let store: any DocumentStore
    package let server: ServerDescription
    package let transactions: TransactionRegistry
    /// The commit rates of the selected database.
    package let commitRates: CommitRates
    package let keys: APIKeyRegistry
    /// The security rules of the selected database.
    package let rules: DatabaseRules
    /// The security rules of all databases.
    package let rulesRegistry: RulesRegistry
    /// The authentication of end users.
    package let endUsers: EndUserAuthenticator
    /// The browser sessions.
    package let sessions: SessionRegistry
    /// The open watch streams with several targets.
    package let watchStreams: WatchStreamRegistry
    package let caller: Caller
    /// The ID of the request for which the calls are made; `nil` for those of the server itself.
    package let requestID: String?
    /// The additional databases, or `nil` on a server with only the default database.
    package let databases: DatabaseRegistry?
    /// The selected additional database, or `nil` for the default one.
    package let database: DatabaseID?

    package init(
        store: any DocumentStore,
        server: ServerDescription = ServerDescription(),
        transactions: TransactionRegistry = TransactionRegistry(),
        keys: APIKeyRegistry = APIKeyRegistry(),
        sessions: SessionRegistry? = nil,
        endUsers: EndUserAuthenticator = EndUserAuthenticator(),
        rulesRegistry: RulesRegistry = RulesRegistry(),
        rules: DatabaseRules? = nil,
        databases: DatabaseRegistry? = nil
    ) {
        self.store = store
        self.databases = databases
        self.server = server
        self.transactions = transactions
        self.keys = keys
        self.endUsers = endUsers
        self.rulesRegistry = rulesRegistry
        self.rules = rules ?? rulesRegistry.rulesInMemory(of: databases?.defaultID ?? .standard)
        self.sessions = sessions ?? SessionRegistry(keys: keys)
        watchStreams = WatchStreamRegistry()
        commitRates = CommitRates()
        caller = .system
        requestID = nil
        database = nil
    }

    /// Creates a context of the same server for a caller, or in another database.
    private init(
        _ base: ServiceContext,
        caller: Caller,
        requestID: String?,
        store: any DocumentStore,
        in lease: DatabaseLease? = nil
    ) {
        self.store = store
        server = base.server
        transactions = lease?.database.transactions ?? base.transactions
        commitRates = lease?.database.commitRates ?? base.commitRates
        keys = base.keys
        rules = lease?.database.rules ?? base.rules
        rulesRegistry = base.rulesRegistry
        endUsers = base.endUsers
        sessions = base.sessions
        watchStreams = base.watchStreams
        self.caller = caller
        self.requestID = requestID
        databases = base.databases
        database = lease?.database.id ?? base.database
    }

    /// Returns the context of a caller. The receiver must be the system context.
    package func withCaller(_ caller: Caller, requestID: String? = nil) -> ServiceContext {
        RequestTrace.current?.update { $0.database = databaseName }
        return ServiceContext(self, caller: caller, requestID: requestID, store: caller.restricted(store, by: rules))
    }

    /// The store that streams read, for targets to which their caller has been granted access.
    var streamStore: any DocumentStore { (store as? RulesStore)?.base ?? store }

    /// True if the access of the caller to the targets of streams is decided: it is an end user.
    var decidesAccess: Bool { store is RulesStore }

    /// Returns the access of an end user to the target of a stream, yet to be decided; `nil` for other callers.
    func access(to target: TargetAccess.Target) -> TargetAccess? {
        guard let store = store as? RulesStore else { return nil }
        return TargetAccess(to: target, store.gate, in: store.base)
    }

    /// Returns the context of calls in an additional database.
    func using(_ lease: DatabaseLease) -> ServiceContext {
        RequestTrace.current?.update { $0.database = lease.database.id }
        let store = caller.restricted(lease, by: lease.database.rules)
        return ServiceContext(self, caller: caller, requestID: requestID, store: store, in: lease)
    }
}

extension Caller {
    /// Returns a store with what the caller has access to.
    fileprivate func restricted(_ store: any DocumentStore, by rules: DatabaseRules) -> any DocumentStore {
        if isEndUser { return RulesStore(base: store, gate: RulesGate(rules: rules, user: user)) }
        return collections == nil ? store : RestrictedStore(base: store, caller: self)
    }
}
