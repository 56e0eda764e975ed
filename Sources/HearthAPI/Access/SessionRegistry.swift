package import DocumentModel
import DocumentStore
import Synchronization
package import UTF8Text

/// The browser sessions of a server.
///
/// A session has the rights of the key that it was started with. It ends when it is unused for ``Session/idleTimeout``, after
/// ``Session/maximumLifetime``, when a caller ends it, and immediately when its key is revoked or expires. Sessions are kept in
/// memory only, by the hashes of their IDs: a restart of the server ends all of them.
package final class SessionRegistry: Sendable {
    fileprivate struct State {
        /// The sessions by the hashes of their IDs.
        var sessions: [UTF8Key: Session] = [:]
        /// The observers by session name.
        var observers = RevocationObservers<UTF8Key>()
    }

    private let state = Mutex(State())
    private let keys: APIKeyRegistry
    private let now: @Sendable () -> Timestamp

    /// The maximum number of sessions per key; an additional one ends the least recently used session.
    private static let maximumCountPerKey = 32
    private static let nameBytes = 16
    /// The interval at which sessions are checked for expiry and revoked keys.
    private static let maintenanceInterval = Duration.seconds(5)

    package init(keys: APIKeyRegistry, now: @escaping @Sendable () -> Timestamp = Timestamp.current) {
        self.keys = keys
        self.now = now
    }

    /// Starts a session.
    ///
    /// - Parameters:
    ///   - key: The text of the key to sign in with.
    ///   - network: The network of the browser's address.
    ///   - isSecure: Whether the browser is connected over TLS.
    ///   - failures: The limiter of failed attempts.
    /// - Returns: The session and its ID, which only the browser stores.
    package func start(
        with key: some Collection<UInt8> & Sendable,
        from network: UTF8Key,
        isSecure: Bool,
        failures: FailedAttemptLimiter
    ) async throws(APIKeyRegistry.AuthenticationError) -> (session: Session, id: String) {
        let caller = try await keys.authenticate(key, from: network, failures: failures)
        let id = SessionID()
        let digest = SessionID.digest(of: id.text.utf8)
        let (name, now) = (UTF8Key(Substring(digest.utf8.prefix(Self.nameBytes))), now())
        let session = Session(
            name: name,
            caller: caller,
            isSecure: isSecure,
            network: network,
            startTime: now,
            lastUseTime: now
        )
        let callbacks = state.withLock { [keys] state in
            var callbacks = state.removeAll { $0.isExpired(at: now) || !keys.isValid($0.caller) }
            let others = state.sessions.filter { $0.value.caller.keyID == caller.keyID }
            if others.count >= Self.maximumCountPerKey,
                let oldest = others.min(by: { $0.value.lastUseTime < $1.value.lastUseTime })
            {
                callbacks += state.removeAll { $0.name == oldest.value.name }
            }
            state.sessions[digest] = session
            return callbacks
        }
        for callback in callbacks { callback() }
        return (session, id.text)
    }

    /// Returns the session with a given ID, or `nil` if it does not exist or has ended.
    ///
    /// - Parameter countsAsUse: Whether the request counts as use of the session and restarts its idle timeout.
    package func session(withID id: some Collection<UInt8>, countsAsUse: Bool = true) -> Session? {
        let (digest, now) = (SessionID.digest(of: id), now())
        let (session, callbacks) = state.withLock { [keys] state -> (Session?, [RevocationObservation.Callback]) in
            guard let session = state.sessions[digest] else { return (nil, []) }
            guard !session.isExpired(at: now), keys.isValid(session.caller) else {
                return (nil, state.removeAll { $0.name == session.name })
            }
            if countsAsUse { state.sessions[digest]?.lastUseTime = max(session.lastUseTime, now) }
            return (state.sessions[digest], [])
        }
        for callback in callbacks { callback() }
        return session
    }

    /// Returns the sessions that a caller may see and end, newest first: all for an admin, and those of the same key for others.
    package func visible(to caller: Caller) -> [Session] {
        let now = now()
        let all = state.withLock { Array($0.sessions.values) }
        return all.filter { !$0.isExpired(at: now) && keys.isValid($0.caller) && caller.canManage($0) }
            .sorted { ($1.startTime, $1.name) < ($0.startTime, $0.name) }
    }

    /// Ends a session and closes its streams.
    ///
    /// - Throws: ``StatusCode/notFound`` if no session visible to the caller has the name.
    package func end(_ name: UTF8Key, by caller: Caller) throws(StatusError) {
        let (isFound, callbacks) = state.withLock { state in
            let isFound = state.sessions.values.contains { $0.name == name && caller.canManage($0) }
            return (isFound, isFound ? state.removeAll { $0.name == name } : [])
        }
        guard isFound else { throw StatusError(.notFound, "The session does not exist or has ended.") }
        for callback in callbacks { callback() }
    }

    /// Registers a callback that runs once when a session ends, or immediately if it has ended.
    ///
    /// - Returns: The registration; the callback is dropped when it is released.
    package func onRevocation(of session: Session, _ callback: @escaping RevocationObservation.Callback) -> RevocationObservation
    {
        let id: RevocationObservers<UTF8Key>.ID? = state.withLock { state in
            let exists = state.sessions.values.contains { $0.name == session.name }
            return exists ? state.observers.add(session.name, callback) : nil
        }
        guard let id else {
            callback()
            return RevocationObservation {}
        }
        return RevocationObservation { [weak self] in self?.state.withLock { $0.observers.remove(id) } }
    }
}

extension SessionRegistry {
    /// Removes ended sessions and closes their streams, until the task is cancelled.
    package func runMaintenance() async {
        while (try? await Task.sleep(for: Self.maintenanceInterval)) != nil {
            let now = now()
            let callbacks = state.withLock { [keys] state in state.removeAll { $0.isExpired(at: now) || !keys.isValid($0.caller) }
            }
            for callback in callbacks { callback() }
        }
    }
}

extension SessionRegistry.State {
    /// Removes sessions and returns the callbacks of their observers.
    fileprivate mutating func removeAll(where isRemoved: (Session) -> Bool) -> [RevocationObservation.Callback] {
        var callbacks: [RevocationObservation.Callback] = []
        for (digest, session) in sessions where isRemoved(session) {
            sessions[digest] = nil
            callbacks += observers.removeAll(for: session.name)
        }
        return callbacks
    }
}

extension Caller {
    fileprivate func canManage(_ session: Session) -> Bool {
        role == .admin || (keyID != nil && keyID == session.caller.keyID)
    }
}
