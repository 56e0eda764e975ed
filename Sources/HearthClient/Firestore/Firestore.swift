internal import Dispatch
internal import DocumentModel
internal import HearthTransport
internal import SyncEngine
internal import Synchronization
internal import UTF8Text

/// A database, the entry point to collections, documents, batches and transactions.
///
/// ```swift
/// let db = Firestore.firestore()
/// let book = try await db.collection("books").document("hitchhiker").getDocument(as: Book.self)
/// ```
///
/// All tasks and threads can use it concurrently.
///
/// With ``FirestoreSettings/cacheSettings`` it works without the server: listeners show local writes at once, reads fall back to the
/// cache, and writes are sent in the order of the calls as soon as the server can be reached. Without, writes without `await` are queued and
/// committed in the order of the calls; reads and writes with `await` start after the queued writes have completed.
public final class Firestore: Sendable {
    private let state: Mutex<State>
    /// The name of the database; `nil` for the default database.
    let database: String?
    let writes = WriteQueue()

    private struct State {
        var configuration: FirestoreConfiguration
        /// Created by the first call.
        var client: Result<Client, StatusError>?
        /// The session of the listeners without a local cache, created by the first one.
        var uncachedSession: (any SyncSession)?
        /// The termination that is under way or has ended; `nil` if there is none.
        var termination: Task<Void, Never>?

        var isTerminated: Bool { termination != nil }
    }

    /// The number of changes of the user. Locked while one is under way.
    private let userChanges = Mutex(0)

    /// The means by which calls reach the server.
    struct Client: Sendable {
        let connection: HearthConnection
        /// The session with the local cache; `nil` without one.
        let session: (any SyncSession)?
    }

    /// The instances by database name.
    private static let named = Mutex<[UTF8Key: Firestore]>([:])

    /// Returns the default database of the server given by the environment; always the same instance until it is terminated.
    public static func firestore() -> Firestore {
        firestore(database: DatabaseID.defaultDatabase.string)
    }

    /// Returns a named database of the server given by the environment; always the same instance for a name until it is terminated.
    ///
    /// Databases are independent of each other. The first write creates a database.
    ///
    /// - Parameter database: The name, as `project/database`, or just `database` for one in the server's default project.
    ///   `(default)` is the database of ``firestore()``.
    public static func firestore(database: String) -> Firestore {
        let name = UTF8Key(database)
        return named.withLock { named in
            if let known = named[name], !known.isTerminated { return known }
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
        // A termination ends all that the instance has.
        guard !isTerminated, let client = openClient else { return }
        let session = openSession
        // An unstructured task, since deinit cannot wait for the sockets to be closed.
        Task { [writes] in
            await writes.waitForPending()
            // A queue in memory would be lost.
            if let session = client.session, await !session.isPersistent {
                session.setNetworkEnabled(true) {}
                await withCheckedContinuation { continuation in session.waitForPendingWrites { _ in continuation.resume() } }
            }
            await session?.terminate()
            await client.connection.shutdown()
        }
    }

    /// The settings of the database.
    ///
    /// - Precondition: When other ones are set, the database has not been used.
    public var settings: FirestoreSettings {
        get { FirestoreSettings(state.withLock(\.configuration)) }
        set {
            let configuration = FirestoreConfiguration(newValue)
            state.withLock { state in
                guard configuration != state.configuration else { return }
                precondition(
                    state.client == nil && !state.isTerminated,
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

    /// Removes all listeners and closes the connections. The instance cannot be used anymore.
    ///
    /// Without a local cache, waits for queued writes, until the task of one of the callers is cancelled. With one, it doesn't: those of a
    /// persistent cache are sent when the database is used again.
    nonisolated(nonsending) public func terminate() async throws {
        let termination = beginTermination()
        await withTaskCancellationHandler {
            await termination.value
        } onCancel: {
            termination.cancel()
        }
    }

    /// Removes all listeners, closes the connections and calls `completion`.
    public func terminate(completion: (((any Error)?) -> Void)? = nil) {
        let termination = beginTermination()
        callBack(completion) { await termination.value }
    }

    /// Begins the termination, unless it has begun. No call that follows uses the instance.
    private func beginTermination() -> Task<Void, Never> {
        state.withLock { state in
            if let termination = state.termination { return termination }
            let client = try? state.client?.get()
            let session = client?.session ?? state.uncachedSession
            let termination = Task { [writes] in
                await writes.waitForPending()
                await session?.terminate()
                await client?.connection.shutdown()
            }
            state.termination = termination
            return termination
        }
    }

    /// Removes the files of the persistent cache, with the writes that are queued in it: those of this database and credential. Without
    /// ``PersistentCacheSettings``, removes those in the standard folder, which earlier settings may have left.
    ///
    /// - Throws: ``FirestoreErrorCode/failedPrecondition`` if the database is in use, here or in another process. Call it before the first use,
    ///   or after ``terminate()``.
    nonisolated(nonsending) public func clearPersistence() async throws {
        try await clear(clearance)
    }

    /// The permission to clear the cache, as of the call.
    private struct Clearance {
        /// The settings; `nil` if the database is in use.
        let configuration: FirestoreConfiguration?
        /// The termination to wait for.
        let termination: Task<Void, Never>?
    }

    private var clearance: Clearance {
        state.withLock { state in
            let isUnused = state.client == nil || state.isTerminated
            return Clearance(configuration: isUnused ? state.configuration : nil, termination: state.termination)
        }
    }

    private func clear(_ clearance: Clearance) async throws {
        await clearance.termination?.value
        do throws(StatusError) {
            guard let configuration = clearance.configuration else {
                throw StatusError(
                    .failedPrecondition,
                    "The database is in use. Clear its cache before the first use, or after terminate()."
                )
            }
            try await configuration.clearCache(of: database)
        } catch {
            throw FirestoreError(error)
        }
    }

    /// Removes the files of the persistent cache and calls `completion`.
    public func clearPersistence(completion: (((any Error)?) -> Void)? = nil) {
        let clearance = clearance
        callBack(completion) { try await self.clear(clearance) }
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

    /// The client; `nil` before the first call.
    var openClient: Client? {
        state.withLock { state in try? state.client?.get() }
    }

    /// The session with the local cache or, without one, that of the listeners; `nil` if there is none yet.
    private var openSession: (any SyncSession)? {
        state.withLock { state in (try? state.client?.get())?.session ?? state.uncachedSession }
    }

    /// Returns the session of the listeners, which share its stream: that with the local cache or, without one, another that has only the
    /// documents on show, and no writes.
    func listeningSession() throws(StatusError) -> any SyncSession {
        let client = try client()
        if let session = client.session ?? state.withLock(\.uncachedSession) { return session }
        return try userChanges.withLock { count throws(StatusError) in
            let user = state.withLock(\.configuration).user(number: count)
            return try state.withLock { state throws(StatusError) in
                guard !state.isTerminated else { throw .terminated }
                let session = state.uncachedSession ?? SyncClient.memory(for: user, over: client.connection)
                state.uncachedSession = session
                return session
            }
        }
    }

    /// Returns the connection, which is created by the first call.
    func connection() throws(StatusError) -> HearthConnection {
        try client().connection
    }

    /// Returns the session with the local cache; `nil` if there is none.
    func session() throws(FirestoreError) -> (any SyncSession)? {
        try firestoreErrors { () throws(StatusError) in try client().session }
    }

    /// Returns the session with the local cache.
    ///
    /// - Throws: `.failedPrecondition` if there is none.
    func requireSession() throws(StatusError) -> any SyncSession {
        guard let session = try client().session else {
            throw StatusError(
                .failedPrecondition,
                "There is no local cache. Set FirestoreSettings.cacheSettings before the first use."
            )
        }
        return session
    }

    /// Calls `body` with the connection and the session, if there are any, and the user of the credential after a change.
    func changeUser(_ body: (HearthConnection, (any SyncSession)?, UserID) -> Void) {
        // The ID of the user must not be that of a later change.
        userChanges.withLock { count in
            count += 1
            guard let client = openClient else { return }
            body(client.connection, openSession, state.withLock(\.configuration).user(number: count))
        }
    }

    /// Returns the client, which is created by the first call.
    func client() throws(StatusError) -> Client {
        if let client = state.withLock({ $0.isTerminated ? nil : $0.client }) { return try client.get() }
        return try userChanges.withLock { count throws(StatusError) in try makeClient(for: count) }
    }

    /// - Parameter userCount: The number of changes of the user so far.
    private func makeClient(for userCount: Int) throws(StatusError) -> Client {
        // The application is not asked while the state is locked.
        let user = state.withLock(\.configuration).user(number: userCount)
        let client: Result<Client, StatusError> = state.withLock { state in
            if state.isTerminated {
                return .failure(StatusError(.failedPrecondition, "The Firestore instance has been terminated."))
            }
            if let client = state.client { return client }
            let configuration = state.configuration
            let client = Result { () throws(StatusError) in
                let connection = try HearthConnection(
                    server: ServerAddress(configuration.address),
                    credential: configuration.credential,
                    database: database,
                    timeout: configuration.timeout,
                    certificateAuthorities: configuration.certificateAuthorities,
                    clientCertificate: configuration.clientCertificate
                )
                let session = try configuration.makeSession(for: user, of: database, over: connection)
                return Client(connection: connection, session: session)
            }
            state.client = client
            return client
        }
        return try client.get()
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
