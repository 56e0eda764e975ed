package import DocumentModel
package import DocumentStore

/// What the methods work with: the store, what is known of the server that runs them, the transactions that are open, the keys,
/// and who calls.
///
/// One context serves all calls, each through the one of its caller, ``calling(as:)``. The pages make typed calls:
///
/// ```swift
/// let page = try await ListDocuments.call(.init(collection: books, pageSize: 50), in: context)
/// ```
package struct ServiceContext: Sendable {
    /// The documents, as far as the caller may use them.
    package private(set) var store: any DocumentStore
    package let server: ServerDescription
    package private(set) var transactions: Transactions
    /// How fast commits come in the database that the calls are in.
    package private(set) var commitRates = CommitRates()
    package let keys: AccessKeys
    /// Who has signed in with a browser.
    package let sessions: Sessions
    package private(set) var caller: Caller
    /// The databases beside the default one; nil where that is the only one.
    package let databases: Databases?
    /// Which of them the calls are in; nil for the default one.
    package private(set) var database: DatabaseID?

    package init(
        store: any DocumentStore,
        server: ServerDescription = ServerDescription(),
        transactions: Transactions = Transactions(),
        keys: AccessKeys = AccessKeys(),
        databases: Databases? = nil
    ) {
        self.store = store
        self.databases = databases
        self.server = server
        self.transactions = transactions
        self.keys = keys
        sessions = Sessions(keys: keys)
        caller = .program
    }

    /// The context of a caller's calls. It is made of the program's own.
    package func calling(as caller: Caller) -> ServiceContext {
        var context = self
        context.caller = caller
        if caller.collections != nil { context.store = RestrictedStore(base: store, caller: caller) }
        return context
    }

    /// The context of calls in a database beside the default one.
    func using(_ use: DatabaseUse) -> ServiceContext {
        var context = self
        context.store = use
        context.transactions = use.database.transactions
        context.commitRates = use.database.commitRates
        context.database = use.database.id
        return context
    }
}

/// What a server says of itself, in `server.info` and in its OpenRPC document.
package struct ServerDescription: Sendable {
    /// The product's name.
    package static let name = "Hearth"
    /// The version of the program and of its calls.
    package static let version = "0.1.0"

    /// When the server started.
    package let startTime: ContinuousClock.Instant
    /// What a client has to keep to.
    package let limits: ServiceLimits
    /// What goes on in it.
    package let activity = ServerActivity()
    /// What it has logged last.
    package let log: RecentLog

    package init(
        startTime: ContinuousClock.Instant = .now,
        limits: ServiceLimits = ServiceLimits(),
        log: RecentLog = RecentLog()
    ) {
        self.startTime = startTime
        self.limits = limits
        self.log = log
    }
}
