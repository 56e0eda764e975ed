internal import Dispatch
internal import DocumentModel
internal import StrictJSON
internal import Synchronization

/// A database: what collections, documents, batches and transactions belong to.
///
/// ```swift
/// let db = Firestore.firestore()
/// let book = try await db.collection("books").document("hitchhiker").getDocument(as: Book.self)
/// ```
///
/// Any number of tasks and threads may use it at once. Writes without `await` are sent in the order of their calls; reads and
/// writes with `await` begin after those that were called before.
public final class Firestore: Sendable {
    private let state: Mutex<State>
    /// The database's name; nil for the server's default one.
    let database: String?
    let writes = WriteQueue()

    private struct State {
        var configuration: FirestoreConfiguration
        /// Made with the first call.
        var connection: Result<HearthConnection, StatusError>?
        var isTerminated = false
    }

    private static let shared = Firestore(settings: FirestoreSettings())

    /// The default database of the server that the environment says; always the same one.
    public static func firestore() -> Firestore {
        shared
    }

    /// The databases that were asked for by their names.
    private static let named = Mutex<[UTF8Key: Firestore]>([:])

    /// A database of the server that the environment says; always the same one for a name.
    ///
    /// Databases have nothing in common but the server. One that does not exist is empty, and is made by the first write.
    ///
    /// - Parameter database: The name, in the server's own project or as `project/database`; `(default)` is that of
    ///   ``firestore()``.
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

    /// Makes a database of its own, for programs that talk to several servers.
    ///
    /// - Parameter database: The name as ``firestore(database:)`` takes it; the server's default database when nil.
    public init(settings: FirestoreSettings, database: String? = nil) {
        self.database = database.flatMap { UTF8Key($0) == DatabaseID.defaultDatabase ? nil : $0 }
        state = Mutex(State(configuration: FirestoreConfiguration(settings)))
    }

    deinit {
        let connection = state.withLock { state in try? state.connection?.get() }
        guard let connection else { return }
        // Nobody is left who could wait for the sockets to be closed.
        Task { await connection.shutdown() }
    }

    /// Where the database is. Set it before the first use: later it is a mistake in the program, and ends it.
    public var settings: FirestoreSettings {
        get { FirestoreSettings(state.withLock(\.configuration)) }
        set {
            let configuration = FirestoreConfiguration(newValue)
            state.withLock { state in
                precondition(
                    state.connection == nil && !state.isTerminated,
                    "The Firestore instance is in use, and its settings can't be changed any more. Set them before any other call."
                )
                state.configuration = configuration
            }
        }
    }

    /// Has the database at a host and port, without TLS. Call it before the first use.
    public func useEmulator(withHost host: String, port: Int) {
        let settings = settings
        settings.host = "\(host):\(port)"
        settings.isSSLEnabled = false
        self.settings = settings
    }

    /// Ends all listeners and connections, once the writes have been answered that nobody waits for; at once when the task is
    /// cancelled. The database can't be used any more.
    nonisolated(nonsending) public func terminate() async throws {
        await writes.settle()
        let connection = state.withLock { state in
            state.isTerminated = true
            return try? state.connection?.get()
        }
        await connection?.shutdown()
    }

    /// Ends all listeners and connections, and calls back.
    public func terminate(completion: (((any Error)?) -> Void)? = nil) {
        callBack(completion) { try await self.terminate() }
    }

    var callbackQueue: DispatchQueue {
        state.withLock(\.configuration.queue)
    }

    /// Which database it is, whether there is one or not: the address of the server, and the name where it is not the default one.
    var origin: String {
        state.withLock(\.configuration.address) + (database.map { " (\(Excerpt($0).text))" } ?? "")
    }

    var isTerminated: Bool {
        state.withLock(\.isTerminated)
    }

    /// The connection, made with the first call.
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
                    key: configuration.key,
                    database: database,
                    timeout: configuration.timeout
                )
            }
            state.connection = connection
            return connection
        }
        return try connection.get()
    }
}

extension Firestore: Hashable {
    /// Whether both are the same object.
    public static func == (left: Firestore, right: Firestore) -> Bool {
        left === right
    }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
