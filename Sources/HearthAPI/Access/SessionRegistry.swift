package import DocumentModel
import DocumentStore
package import Logging
package import StorageIO
import Synchronization
package import UTF8Text

/// The browser sessions of a server.
///
/// A session has the rights of the key that it was started with. It ends when it is unused for ``Session/idleTimeout``, after
/// ``Session/maximumLifetime``, when a caller ends it, and immediately when its key is revoked or expires. Sessions are kept by the
/// hashes of their IDs: in memory only, so that a restart of the server ends all of them, or also in a record that servers share, so
/// that each of them knows the sessions of all.
package final class SessionRegistry: Sendable {
    fileprivate struct State {
        /// The sessions by the hashes of their IDs.
        var sessions: [UTF8Key: Session] = [:]
        /// The observers by session name.
        var observers = RevocationObservers<UTF8Key>()
        /// The sessions that are not in the record yet.
        var unsaved: Set<UTF8Key> = []
        /// The sessions that have ended here and may be in the record still.
        var ended: Set<UTF8Key> = []
        /// True if sessions have been used since the record was last written.
        var hasUnsavedUses = false
        /// The version of the record that the sessions are from.
        var recordVersion: AtomicRecordVersion?
        /// The number of the snapshot that the sessions are from.
        var snapshotNumber = 0
        /// The number of looks for unknown sessions since the last check of the record.
        var lookUpCount = 0
    }

    private let state = Mutex(State())
    /// The record of all servers' sessions; `nil` for sessions of this server only.
    private let record: (any AtomicRecord)?
    private let logger: Logger
    private let keys: APIKeyRegistry
    private let now: @Sendable () -> Timestamp

    /// The maximum number of sessions per key; an additional one ends the least recently used session.
    private static let maximumCountPerKey = 32
    private static let nameBytes = 16
    /// The interval at which the record is checked for changes, and sessions are checked for expiry and revoked keys.
    private static let maintenanceInterval = Duration.seconds(1)
    /// The number of maintenance intervals between two writes of the last-use times.
    private static let intervalsBetweenSaves = 60
    /// The maximum number of looks for unknown sessions in an interval: anyone can send IDs.
    private static let maximumLookUps = 50

    /// Creates a registry of sessions that are kept in memory only.
    package init(keys: APIKeyRegistry, now: @escaping @Sendable () -> Timestamp = Timestamp.current) {
        self.keys = keys
        self.now = now
        record = nil
        logger = Logger(label: "hearth.sessions", factory: { _ in SwiftLogNoOpLogHandler() })
    }

    /// Creates a registry of sessions that several servers share.
    package init(
        keys: APIKeyRegistry,
        sharedIn record: some AtomicRecord,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = Timestamp.current
    ) {
        self.keys = keys
        self.record = record
        self.logger = logger
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
        let (name, now) = (Self.name(ofDigest: digest), now())
        let session = Session(
            name: name,
            caller: caller,
            isSecure: isSecure,
            network: network,
            startTime: now,
            lastUseTime: now
        )
        let callbacks = state.withLock { [keys, record] state in
            var callbacks = state.removeAll { $0.isExpired(at: now) || !keys.isValid($0.caller) }
            let others = state.sessions.filter { $0.value.caller.keyID == caller.keyID }
            if others.count >= Self.maximumCountPerKey,
                let oldest = others.min(by: { $0.value.lastUseTime < $1.value.lastUseTime })
            {
                callbacks += state.removeAll { $0.name == oldest.value.name }
                if record != nil { state.ended.insert(oldest.key) }
            }
            state.sessions[digest] = session
            if record != nil { state.unsaved.insert(digest) }
            return callbacks
        }
        for callback in callbacks { callback() }
        // Until it is saved, the next attempt of which maintenance makes, only this server knows it.
        await save()
        return (session, id.text)
    }

    /// Returns the session with a given ID, of this server or another one, as ``session(withID:countsAsUse:)`` does.
    package func sharedSession(withID id: some Collection<UInt8>, countsAsUse: Bool = true) async -> Session? {
        if let session = session(withID: id, countsAsUse: countsAsUse) { return session }
        let digest = SessionID.digest(of: id)
        let mayBeUnknown = state.withLock { state in
            guard state.sessions[digest] == nil, state.lookUpCount < Self.maximumLookUps else { return false }
            state.lookUpCount += 1
            return true
        }
        guard record != nil, mayBeUnknown else { return nil }
        await refresh()
        return session(withID: id, countsAsUse: countsAsUse)
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
            if countsAsUse {
                state.sessions[digest]?.lastUseTime = max(session.lastUseTime, now)
                state.hasUnsavedUses = true
            }
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
    /// - Throws: ``StatusCode/notFound`` if no session visible to the caller has the name; the error of the record if it cannot be
    ///   written, so that the session goes on.
    package func end(_ name: UTF8Key, by caller: Caller) async throws(StatusError) {
        let digest = state.withLock { state in
            state.sessions.first { $0.value.name == name && caller.canManage($0.value) }?.key
        }
        guard let digest else { throw StatusError(.notFound, "The session does not exist or has ended.") }
        if let record {
            // Before the record is written: a save in progress does not write the session again.
            state.withLock { _ = $0.ended.insert(digest) }
            do throws(StatusError) {
                let snapshot = try await record.update { bytes throws(StatusError) in
                    var file = try SessionFile(contents: bytes)
                    guard file.entries.removeValue(forKey: digest) != nil else { return nil }
                    return file.encoded
                }
                state.withLock { _ = $0.unsaved.remove(digest) }
                try await load(snapshot)
            } catch {
                state.withLock { _ = $0.ended.remove(digest) }
                throw error
            }
        }
        let callbacks = state.withLock { $0.removeAll { $0.name == name } }
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
    /// Follows the record, removes ended sessions and closes their streams, until the task is cancelled.
    package func runMaintenance() async {
        var count = 0
        while (try? await Task.sleep(for: Self.maintenanceInterval)) != nil {
            count += 1
            await refresh()
            let mustSave = state.withLock { state in
                state.lookUpCount = 0
                return !state.unsaved.isEmpty || state.hasUnsavedUses && count.isMultiple(of: Self.intervalsBetweenSaves)
            }
            if mustSave { await save() }
            let now = now()
            let callbacks = state.withLock { [keys] state in state.removeAll { $0.isExpired(at: now) || !keys.isValid($0.caller) }
            }
            for callback in callbacks { callback() }
        }
        // This task is cancelled; the final write needs one that is not.
        if state.withLock(\.hasUnsavedUses) { await Task.detached { await self.save() }.value }
    }

    /// Loads the record if it has changed.
    func refresh() async {
        guard let record else { return }
        do throws(StatusError) {
            guard try await record.version() != state.withLock(\.recordVersion) else { return }
            try await load(record.snapshot())
        } catch {
            logger.warning("Failed to read the browser sessions of all servers", metadata: ["error": "\(error)"])
        }
    }

    /// Writes the sessions of this server that are not in the record, and the times of their last use.
    private func save() async {
        guard let record else { return }
        let (sessions, unsaved, ended) = state.withLock { state in
            state.hasUnsavedUses = false
            return (state.sessions, state.unsaved, state.ended)
        }
        let now = now()
        do throws(StatusError) {
            let snapshot = try await record.update { [self] bytes throws(StatusError) in
                var file = try SessionFile(replacingDamaged: bytes)
                // With those that have ended since.
                let ended = state.withLock(\.ended)
                for id in ended { file.entries[id] = nil }
                for (id, session) in sessions where !ended.contains(id) {
                    if unsaved.contains(id) { file.entries[id] = SessionFile.Entry(session) }
                    guard let known = file.entries[id]?.lastUseTime else { continue }
                    file.entries[id]?.lastUseTime = max(known, session.lastUseTime)
                }
                file.entries = file.entries.filter { !Session.isExpired($0.value.startTime, $0.value.lastUseTime, at: now) }
                return file.encoded
            }
            try await load(snapshot, adding: unsaved, removing: ended)
        } catch {
            state.withLock { $0.hasUnsavedUses = true }
            logger.warning("Failed to store the browser sessions for all servers", metadata: ["error": "\(error)"])
        }
    }

    /// Takes over the sessions of a snapshot, and closes the streams of those that it no longer has.
    ///
    /// - Parameters:
    ///   - added: The unsaved sessions that were added to the record with the snapshot.
    ///   - removed: The ended sessions that were removed from it.
    private func load(
        _ snapshot: AtomicRecordSnapshot,
        adding added: Set<UTF8Key> = [],
        removing removed: Set<UTF8Key> = []
    ) async throws(StatusError) {
        let file = try SessionFile(contents: snapshot.bytes)
        // The key may have been created by another server a moment ago.
        if file.entries.values.contains(where: { $0.key.map { keys.caller(ofKey: $0) == nil } ?? false }) { await keys.refresh() }
        let callbacks = state.withLock { [keys] state -> [RevocationObservation.Callback] in
            // Not before: an earlier snapshot, of a look that lasted longer, has neither change.
            state.unsaved.subtract(added)
            state.ended.subtract(removed)
            guard snapshot.number > state.snapshotNumber else {
                // A later one was taken over while they counted as changed here. It decides about them at the next look.
                if !added.isEmpty || !removed.isEmpty { state.recordVersion = nil }
                return []
            }
            (state.snapshotNumber, state.recordVersion) = (snapshot.number, snapshot.version)
            for (id, entry) in file.entries where !state.ended.contains(id) {
                if let known = state.sessions[id]?.lastUseTime {
                    state.sessions[id]?.lastUseTime = max(known, entry.lastUseTime)
                } else if let caller = entry.key.map({ keys.caller(ofKey: $0) }) ?? .openAccess {
                    state.sessions[id] = Session(entry, name: Self.name(ofDigest: id), caller: caller)
                }
            }
            let ended = Set(state.sessions.keys).subtracting(file.entries.keys).subtracting(state.unsaved)
            let names = Set(ended.compactMap { state.sessions[$0]?.name })
            return state.removeAll { names.contains($0.name) }
        }
        for callback in callbacks { callback() }
    }

    /// Returns the public name of a session.
    private static func name(ofDigest digest: UTF8Key) -> UTF8Key { UTF8Key(Substring(digest.utf8.prefix(nameBytes))) }
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

extension SessionFile.Entry {
    fileprivate init(_ session: Session) {
        self.init(
            key: session.caller.keyID,
            isSecure: session.isSecure,
            network: session.network,
            startTime: session.startTime,
            lastUseTime: session.lastUseTime
        )
    }
}

extension Session {
    fileprivate init(_ entry: SessionFile.Entry, name: UTF8Key, caller: Caller) {
        self.init(
            name: name,
            caller: caller,
            isSecure: entry.isSecure,
            network: entry.network,
            startTime: entry.startTime,
            lastUseTime: entry.lastUseTime
        )
    }
}

extension Caller {
    fileprivate func canManage(_ session: Session) -> Bool {
        role == .admin || (keyID != nil && keyID == session.caller.keyID)
    }
}
