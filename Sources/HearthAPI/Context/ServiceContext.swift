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
package struct ServiceContext: Sendable {
    /// The documents, restricted to what the caller has access to.
    package private(set) var store: any DocumentStore
    package let server: ServerDescription
    package private(set) var transactions: TransactionRegistry
    /// The commit rates of the selected database.
    package private(set) var commitRates = CommitRates()
    package let keys: APIKeyRegistry
    /// The security rules of the selected database.
    package private(set) var rules: DatabaseRules
    /// The security rules of all databases.
    package let rulesRegistry: RulesRegistry
    /// The authentication of end users.
    package let endUsers: EndUserAuthenticator
    /// The browser sessions.
    package let sessions: SessionRegistry
    /// The open watch streams with several targets.
    package let watchStreams: WatchStreamRegistry
    package private(set) var caller: Caller
    /// The additional databases, or `nil` on a server with only the default database.
    package let databases: DatabaseRegistry?
    /// The selected additional database, or `nil` for the default one.
    package private(set) var database: DatabaseID?

    package init(
        store: any DocumentStore,
        server: ServerDescription = ServerDescription(),
        transactions: TransactionRegistry = TransactionRegistry(),
        keys: APIKeyRegistry = APIKeyRegistry(),
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
        sessions = SessionRegistry(keys: keys)
        watchStreams = WatchStreamRegistry()
        caller = .system
    }

    /// Returns the context of a caller. The receiver must be the system context.
    package func withCaller(_ caller: Caller) -> ServiceContext {
        var context = self
        context.caller = caller
        context.store = context.restricted(store)
        RequestTrace.current?.update { $0.database = databaseName }
        return context
    }

    /// Returns a store with what the caller has access to.
    private func restricted(_ store: any DocumentStore) -> any DocumentStore {
        if caller.isEndUser { return RulesStore(base: store, gate: RulesGate(rules: rules, user: caller.user)) }
        return caller.collections == nil ? store : RestrictedStore(base: store, caller: caller)
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
        var context = self
        context.rules = lease.database.rules
        context.store = context.restricted(lease)
        context.transactions = lease.database.transactions
        context.commitRates = lease.database.commitRates
        context.database = lease.database.id
        RequestTrace.current?.update { $0.database = lease.database.id }
        return context
    }
}
