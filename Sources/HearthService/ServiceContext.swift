package import DocumentStore

/// What the methods work with: the store, what is known of the server that runs them, and the transactions that are open.
///
/// One context serves all calls. The command line and the pages make typed calls with the same one:
///
/// ```swift
/// let page = try await ListDocuments.call(.init(collection: books, pageSize: 50), in: context)
/// ```
package struct ServiceContext: Sendable {
    package let store: any DocumentStore
    package let server: ServerDescription
    package let transactions: Transactions

    package init(
        store: any DocumentStore,
        server: ServerDescription = ServerDescription(),
        transactions: Transactions = Transactions()
    ) {
        self.store = store
        self.server = server
        self.transactions = transactions
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

    package init(startTime: ContinuousClock.Instant = .now, limits: ServiceLimits = ServiceLimits()) {
        self.startTime = startTime
        self.limits = limits
    }
}
