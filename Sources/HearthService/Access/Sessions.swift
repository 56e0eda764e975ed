package import DocumentModel
import DocumentStore
package import StrictJSON
import Synchronization

/// Who has signed in with a browser.
///
/// A session stands for the key that it was begun with, and may what the key may. It ends when it was not used for
/// ``Session/maximumIdle``, after ``Session/maximumAge`` in any case, when somebody ends it, and at once when its key is revoked
/// or expires. Sessions are kept in memory only, and of their IDs only the hashes: when the server is started again, everybody
/// signs in again.
package final class Sessions: Sendable {
    fileprivate struct State {
        /// By the hashes of their IDs.
        var sessions: [UTF8Key: Session] = [:]
        /// By the names of the sessions.
        var endings = Endings<UTF8Key>()
    }

    private let state = Mutex(State())
    private let keys: AccessKeys
    private let now: @Sendable () -> Timestamp

    /// How many sessions one key may have at a time; the one unused for longest makes room for another.
    private static let maximumCountPerKey = 32
    private static let nameBytes = 16

    package init(keys: AccessKeys, now: @escaping @Sendable () -> Timestamp = Timestamp.current) {
        self.keys = keys
        self.now = now
    }

    /// Begins a session for who shows a key.
    ///
    /// - Parameters:
    ///   - key: The key's text.
    ///   - network: Where the browser is.
    ///   - isSecure: Whether the browser speaks TLS.
    ///   - failures: How often each network has shown what is no key.
    /// - Returns: The session, and its ID, which only the browser keeps.
    /// - Throws: Why the key is refused.
    package func begin(
        showing key: some Collection<UInt8> & Sendable,
        from network: UTF8Key,
        isSecure: Bool,
        failures: FailedAttempts
    ) async throws(AccessKeys.Refusal) -> (session: Session, id: String) {
        let caller = try await keys.caller(showing: key, from: network, failures: failures)
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
        let ended = state.withLock { [keys] state in
            var ended = state.removeAll { $0.isOver(at: now) || !keys.isValid($0.caller) }
            let others = state.sessions.filter { $0.value.caller.keyID == caller.keyID }
            if others.count >= Self.maximumCountPerKey,
                let oldest = others.min(by: { $0.value.lastUseTime < $1.value.lastUseTime })
            {
                ended += state.removeAll { $0.name == oldest.value.name }
            }
            state.sessions[digest] = session
            return ended
        }
        for end in ended { end() }
        return (session, id.text)
    }

    /// The session of an ID that a browser shows; nil when there is none, or no longer.
    ///
    /// - Parameter isUse: Whether somebody asks for something, so that the session is kept for longer.
    package func session(of id: some Collection<UInt8>, isUse: Bool = true) -> Session? {
        let (digest, now) = (SessionID.digest(of: id), now())
        let (session, ended) = state.withLock { [keys] state -> (Session?, [EndingObservation.Callback]) in
            guard let session = state.sessions[digest] else { return (nil, []) }
            guard !session.isOver(at: now), keys.isValid(session.caller) else {
                return (nil, state.removeAll { $0.name == session.name })
            }
            if isUse { state.sessions[digest]?.lastUseTime = max(session.lastUseTime, now) }
            return (state.sessions[digest], [])
        }
        for end in ended { end() }
        return session
    }

    /// The sessions that a caller may see and end: an admin all, anybody else those of the same key. The newest come first.
    package func visible(to caller: Caller) -> [Session] {
        let now = now()
        let all = state.withLock { Array($0.sessions.values) }
        return all.filter { !$0.isOver(at: now) && keys.isValid($0.caller) && caller.maySee($0) }
            .sorted { ($1.startTime, $1.name) < ($0.startTime, $0.name) }
    }

    /// Ends a session, and its streams.
    ///
    /// - Throws: ``StatusCode/notFound`` when there is none of the name that the caller may see.
    package func end(_ name: UTF8Key, by caller: Caller) throws(StatusError) {
        let (isFound, ended) = state.withLock { state in
            let isFound = state.sessions.values.contains { $0.name == name && caller.maySee($0) }
            return (isFound, isFound ? state.removeAll { $0.name == name } : [])
        }
        guard isFound else { throw StatusError(.notFound, "There is no such session, or no longer.") }
        for end in ended { end() }
    }

    /// Calls back once when a session was ended, at once when it is over.
    ///
    /// - Returns: What keeps the callback; without it, it is forgotten.
    package func onEnd(of session: Session, _ callback: @escaping EndingObservation.Callback) -> EndingObservation {
        let id: Endings<UTF8Key>.ID? = state.withLock { state in
            let isThere = state.sessions.values.contains { $0.name == session.name }
            return isThere ? state.endings.add(session.name, callback) : nil
        }
        guard let id else {
            callback()
            return EndingObservation {}
        }
        return EndingObservation { [weak self] in self?.state.withLock { $0.endings.remove(id) } }
    }
}

extension Sessions {
    /// How often it is looked whether sessions are over.
    private static let interval = Duration.seconds(5)

    /// Ends sessions that are over, with their streams, until the task is cancelled.
    package func follow() async {
        while (try? await Task.sleep(for: Self.interval)) != nil {
            let now = now()
            let ended = state.withLock { [keys] state in state.removeAll { $0.isOver(at: now) || !keys.isValid($0.caller) } }
            for end in ended { end() }
        }
    }
}

extension Sessions.State {
    /// Removes sessions, and gives the callbacks of those who want to know.
    fileprivate mutating func removeAll(where isRemoved: (Session) -> Bool) -> [EndingObservation.Callback] {
        var callbacks: [EndingObservation.Callback] = []
        for (digest, session) in sessions where isRemoved(session) {
            sessions[digest] = nil
            callbacks += endings.take(session.name)
        }
        return callbacks
    }
}

extension Caller {
    fileprivate func maySee(_ session: Session) -> Bool {
        role == .admin || (keyID != nil && keyID == session.caller.keyID)
    }
}
