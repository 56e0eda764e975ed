internal import Dispatch
internal import DocumentModel
internal import Synchronization
internal import UTF8Text

/// A database, the entry point to collections, documents, batches and transactions.
///
/// ```swift
/// let db = Firestore.firestore()
/// let book = try await db.collection("books").document("hitchhiker").getDocument(as: Book.self)
/// ```
///
/// All tasks and threads can use it concurrently. Writes without `await` are queued and committed in the order of the calls; reads
/// and writes with `await` start after the queued writes have completed.
public final class Firestore: Sendable {
    private let state: Mutex<State>
    /// The name of the database; `nil` for the default database.
    let database: String?
    let writes = WriteQueue()

    private struct State {
        var configuration: FirestoreConfiguration
        /// Created by the first call.
        var connection: Result<HearthConnection, StatusError>?
        var isTerminated = false
    }

    private static let shared = Firestore(settings: FirestoreSettings())

    /// Returns the default database of the server given by the environment; always the same instance.
    public static func firestore() -> Firestore {
        shared
    }

    /// The instances by database name.
    private static let named = Mutex<[UTF8Key: Firestore]>([:])

    /// Returns a named database of the server given by the environment; always the same instance for a name.
    ///
    /// Databases are independent of each other. The first write creates a database.
    ///
    /// - Parameter database: The name, as `project/database`, or just `database` for one in the server's default project.
    ///   `(default)` is the database of ``firestore()``.
    public static func firestore(database: String) -> Firestore {
        let name = UTF8Key(database)
        guard name != DatabaseID.defaultDatabase else { return shared }
        return named.withLock { named in
            if let known = named[name] { return known }
            let firestore = Firestore(settings: FirestoreSettings(), database: database)
            named[name] = firestore
            return firestore
        }
    }

    /// Creates an instance with its own settings, for programs that use several servers.
    ///
    /// - Parameter database: The name, as for ``firestore(database:)``; `nil` for the default database.
    public init(settings: FirestoreSettings, database: String? = nil) {
        self.database = database.flatMap { UTF8Key($0) == DatabaseID.defaultDatabase ? nil : $0 }
        state = Mutex(State(configuration: FirestoreConfiguration(settings)))
    }

    deinit {
        guard let connection = openConnection else { return }
        // An unstructured task, since deinit cannot wait for the sockets to be closed.
        Task { await connection.shutdown() }
    }

    /// The settings of the database.
    ///
    /// - Precondition: When they are set, the database has not been used.
    public var settings: FirestoreSettings {
        get { FirestoreSettings(state.withLock(\.configuration)) }
        set {
            let configuration = FirestoreConfiguration(newValue)
            state.withLock { state in
                precondition(
                    state.connection == nil && !state.isTerminated,
                    "The Firestore instance is in use and its settings cannot be changed. Set them before any other call."
                )
                state.configuration = configuration
            }
        }
    }

    /// Sets the host and port of the server, without TLS. Call it before the first use.
    public func useEmulator(withHost host: String, port: Int) {
        let settings = settings
        settings.host = "\(host):\(port)"
        settings.isSSLEnabled = false
        self.settings = settings
    }

    /// Waits for queued writes, then removes all listeners and closes the connections. The instance cannot be used anymore.
    ///
    /// Doesn't wait for queued writes if the task is cancelled.
    nonisolated(nonsending) public func terminate() async throws {
        await writes.waitForPending()
        let connection = state.withLock { state in
            state.isTerminated = true
            return try? state.connection?.get()
        }
        await connection?.shutdown()
    }

    /// Removes all listeners, closes the connections and calls `completion`.
    public func terminate(completion: (((any Error)?) -> Void)? = nil) {
        callBack(completion) { try await self.terminate() }
    }

    var callbackQueue: DispatchQueue {
        state.withLock(\.configuration.queue)
    }

    /// The server address, with the name of a database other than the default one; identifies the database in error messages.
    var displayName: String {
        state.withLock(\.configuration.address) + (database.map { " (\(Excerpt($0).text))" } ?? "")
    }

    var isTerminated: Bool {
        state.withLock(\.isTerminated)
    }

    /// The connection; `nil` before the first call.
    var openConnection: HearthConnection? {
        state.withLock { state in try? state.connection?.get() }
    }

    /// Returns the connection, which is created by the first call.
    func connection() throws(StatusError) -> HearthConnection {
        let connection: Result<HearthConnection, StatusError> = state.withLock { state in
            if state.isTerminated {
                return .failure(StatusError(.failedPrecondition, "The Firestore instance has been terminated."))
            }
            if let connection = state.connection { return connection }
            let configuration = state.configuration
            let connection = Result { () throws(StatusError) in
                try HearthConnection(
                    server: ServerAddress(configuration.address),
                    credential: configuration.credential,
                    database: database,
                    timeout: configuration.timeout,
                    certificateAuthorities: configuration.certificateAuthorities,
                    clientCertificate: configuration.clientCertificate
                )
            }
            state.connection = connection
            return connection
        }
        return try connection.get()
    }
}

extension Firestore: Hashable {
    /// Returns whether two instances are the same object.
    public static func == (left: Firestore, right: Firestore) -> Bool {
        left === right
    }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
