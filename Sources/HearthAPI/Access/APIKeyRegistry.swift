package import DocumentModel
import DocumentStore
package import Logging
package import StorageIO
import StrictJSON
import Synchronization
package import UTF8Text

/// The API keys of a server, and the authentication of its callers.
///
/// Keys are stored as hashes in `keys.json` in the data folder, or in the engine. Commands and other servers may change them while a
/// server runs; ``runMaintenance()`` picks up the change within a second, and notices which ID tokens of end users have expired.
///
/// As long as the file has never existed, every client that reaches the server has full access. Once it exists, every call
/// requires a key, even after the last key was revoked or the file was deleted. Only a restart of the server lifts the
/// requirement.
package final class APIKeyRegistry: Sendable {
    fileprivate struct State {
        var keys: [UTF8Key: APIKey] = [:]
        /// The IDs in the order of the file.
        var order: [UTF8Key] = []
        var requiresKeys = false
        /// The version of the file that the keys are from.
        var fileVersion: AtomicRecordVersion?
        /// The number of the file snapshot that the keys are from.
        var snapshotNumber = 0
        /// True if keys have been used since the file was last written.
        var hasUnsavedUses = false
        var observers = RevocationObservers<Caller>()
    }

    private let state = Mutex(State())
    /// The file of the keys, or `nil` for keys that are kept in memory only.
    private let file: (any AtomicRecord)?
    private let logger: Logger
    private let now: @Sendable () -> Timestamp
    private let onChange: @Sendable (ExternalChange) -> Void

    /// A change of the keys by another process, such as the command `hearth keys`.
    package struct ExternalChange: Sendable {
        /// The IDs of keys that were created and of those that were revoked.
        package let created: [UTF8Key]
        package let revoked: [UTF8Key]
    }

    /// The maximum number of keys.
    private static let maximumCount = 1_000
    /// The interval at which the file is checked for changes and the keys are checked for expiry.
    private static let maintenanceInterval = Duration.seconds(1)
    /// The number of maintenance intervals between two writes of the last-use times.
    private static let intervalsBetweenSaves = 60

    /// Creates an empty registry that is kept in memory only.
    package init(now: @escaping @Sendable () -> Timestamp = Timestamp.current) {
        file = nil
        logger = Logger(label: "hearth.keys", factory: { _ in SwiftLogNoOpLogHandler() })
        self.now = now
        onChange = { _ in }
    }

    private init(
        _ file: some AtomicRecord,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp,
        onChange: @escaping @Sendable (ExternalChange) -> Void
    ) {
        self.file = file
        self.logger = logger
        self.now = now
        self.onChange = onChange
    }

    /// Reads the keys from their file, which a running server may have open.
    ///
    /// - Parameter onChange: Called when another process has changed the keys.
    /// - Throws: ``StatusCode/dataLoss`` if the file is damaged; the file system's error if it cannot be read.
    package static func open(
        _ file: some AtomicRecord,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = Timestamp.current,
        onChange: @escaping @Sendable (ExternalChange) -> Void = { _ in }
    ) async throws(StatusError) -> APIKeyRegistry {
        let registry = APIKeyRegistry(file, logger: logger, now: now, onChange: onChange)
        let snapshot = try await file.snapshot()
        if snapshot.bytes != nil { try registry.load(snapshot) }
        return registry
    }

    /// True if callers need a key.
    package var requiresKeys: Bool {
        state.withLock(\.requiresKeys)
    }

    /// Rejects callers without a key from now on, even while no keys exist.
    package func requireKeys() {
        let callbacks = state.withLock { state in
            state.requiresKeys = true
            return state.removeInvalidObservers(at: now())
        }
        for callback in callbacks { callback() }
    }

    /// True if an unexpired key exists.
    package var hasValidKey: Bool {
        state.withLock { [now = now()] state in state.keys.values.contains { !$0.isExpired(at: now) } }
    }

    /// Returns the holder of a key; `nil` if there is none.
    func caller(ofKey id: UTF8Key) -> Caller? {
        state.withLock { $0.keys[id].map { Caller($0) } }
    }

    /// All keys in the order of their creation, including expired ones.
    package var all: [APIKey] {
        state.withLock { state in state.order.compactMap { state.keys[$0] } }
    }
}

extension APIKeyRegistry {
    /// The reason why a caller could not be authenticated.
    package enum AuthenticationError: Error {
        /// The caller has presented no key, and keys are required.
        case missing
        /// The key does not exist or was revoked.
        case unknown
        /// The key with this ID has expired.
        case expired(UTF8Key)
    }

    /// Authenticates a caller by its key.
    ///
    /// - Parameter text: The key as presented, or `nil` if there was none.
    package func authenticate(_ text: (some Collection<UInt8> & Sendable)?) throws(AuthenticationError) -> Caller {
        // While keys are not required, a presented key is ignored: a client may still send the key of another server.
        guard requiresKeys else { return .openAccess }
        guard let text else { throw .missing }
        guard let presented = APIKeyText(text) else { throw .unknown }
        let digest = presented.digest
        let now = now()
        return try state.withLock { state throws(AuthenticationError) in
            guard let key = state.keys[presented.id], key.digest.matches(digest) else { throw .unknown }
            guard !key.isExpired(at: now) else { throw .expired(key.id) }
            state.keys[presented.id]?.lastUseTime = now
            state.hasUnsavedUses = true
            return Caller(key)
        }
    }

    /// Authenticates a caller, and rereads the file if the key is unknown: a command may have created it a moment ago.
    ///
    /// - Parameters:
    ///   - network: The network of the caller's address.
    ///   - failures: The limiter of failed attempts. A network that exceeds its limit causes no reread.
    package func authenticate(
        _ text: (some Collection<UInt8> & Sendable)?,
        from network: UTF8Key,
        failures: FailedAttemptLimiter
    ) async throws(AuthenticationError) -> Caller {
        do throws(AuthenticationError) {
            return try authenticate(text)
        } catch .unknown where text.map(Self.isKey) ?? false && !failures.isLimited(from: network) {
            await refresh()
            return try authenticate(text)
        }
    }

    /// Returns whether text has the form of a key.
    package static func isKey(_ text: some Collection<UInt8>) -> Bool {
        APIKeyText(text) != nil
    }

    /// Returns whether a caller's key still exists, has not expired, and grants the same rights.
    package func isValid(_ caller: Caller) -> Bool {
        state.withLock { [now = now()] state in state.isValid(caller, at: now) }
    }

    /// Registers a callback that runs once when a caller becomes invalid, or immediately if it is already invalid.
    ///
    /// - Returns: The registration; the callback is dropped when it is released.
    package func onRevocation(of caller: Caller, _ callback: @escaping RevocationObservation.Callback) -> RevocationObservation {
        let (id, isValid) = state.withLock { [now = now()] state in
            (state.observers.add(caller, callback), state.isValid(caller, at: now))
        }
        if !isValid { callback() }
        return RevocationObservation { [weak self] in self?.state.withLock { $0.observers.remove(id) } }
    }
}

extension APIKeyRegistry {
    /// Creates a key; it is valid and durable when this returns.
    ///
    /// - Returns: The key and its text. The text is not stored and cannot be recovered.
    /// - Throws: ``StatusCode/resourceExhausted`` if the maximum number of keys has been reached.
    package func create(_ attributes: APIKey.Attributes) async throws(StatusError) -> (key: APIKey, text: String) {
        let text = APIKeyText()
        let key = APIKey(attributes, text: text, at: now())
        try await change { keys throws(StatusError) in
            guard keys.count < Self.maximumCount else {
                throw StatusError(
                    .resourceExhausted,
                    "The maximum number of keys, \(Self.maximumCount), has been reached. Revoke keys that are not in use."
                )
            }
            keys.append(key)
        }
        logger.notice("Key created", metadata: ["key.id": "\(key.id)", "key.role": "\(key.role.rawValue)"])
        return (key, text.string)
    }

    /// Revokes a key. When this returns, the key is rejected, its streams are closed, and the change is durable.
    ///
    /// - Throws: ``StatusCode/notFound`` if no key has the ID.
    package func revoke(_ id: UTF8Key) async throws(StatusError) {
        try await change { keys throws(StatusError) in
            guard let index = keys.firstIndex(where: { $0.id == id }) else { throw Self.unknownKey(id) }
            keys.remove(at: index)
        }
        logger.notice("Key revoked", metadata: ["key.id": "\(id)"])
    }

    private static func unknownKey(_ id: UTF8Key) -> StatusError {
        // A key that was passed in place of its ID must not appear in an error log.
        let problem =
            APIKeyText.hasKeyPrefix(id.string)
            ? "Expected the ID of a key, not the key." : "No key has the ID \(Excerpt(id.string))."
        return StatusError(.notFound, "\(problem) keys.list and `hearth keys list` show the IDs.")
    }

    private func change(_ change: @escaping @Sendable (inout [APIKey]) throws(StatusError) -> Void) async throws(StatusError) {
        guard let file else {
            var keys = all
            try change(&keys)
            let callbacks = state.withLock { [keys, now = now()] state in
                state.replaceKeys(with: keys)
                return state.removeInvalidObservers(at: now)
            }
            for callback in callbacks { callback() }
            return
        }
        try await update(file) { keys throws(StatusError) in
            try change(&keys)
            return true
        }
    }

    /// Changes the keys in the file, adds the last-use times, and loads the result.
    ///
    /// - Parameter change: Returns whether the file needs to be written.
    private func update(
        _ file: any AtomicRecord,
        _ change: @escaping @Sendable (inout [APIKey]) throws(StatusError) -> Bool
    ) async throws(StatusError) {
        let known = state.withLock { state in
            state.hasUnsavedUses = false
            return state.keys
        }
        do throws(StatusError) {
            try load(
                await file.update { bytes throws(StatusError) in
                    var content = try APIKeyFile(contents: bytes)
                    for index in content.keys.indices {
                        content.keys[index].recordUse(known[content.keys[index].id]?.lastUseTime)
                    }
                    return try change(&content.keys) ? content.encoded() : nil
                }
            )
        } catch {
            state.withLock { $0.hasUnsavedUses = true }
            throw error
        }
    }

    /// Replaces the keys with those of a file snapshot, unless a newer snapshot was loaded.
    private func load(_ snapshot: AtomicRecordSnapshot) throws(StatusError) {
        let content = try APIKeyFile(contents: snapshot.bytes)
        let callbacks: [RevocationObservation.Callback] = state.withLock { [now = now()] state in
            guard snapshot.number > state.snapshotNumber else { return [] }
            (state.snapshotNumber, state.fileVersion) = (snapshot.number, snapshot.version)
            state.replaceKeys(with: content.keys)
            return state.removeInvalidObservers(at: now)
        }
        for callback in callbacks { callback() }
    }
}

extension APIKeyRegistry {
    /// Follows changes to the file, closes streams of expired keys, and saves last-use times, until the task is cancelled.
    package func runMaintenance() async {
        var count = 0
        while (try? await Task.sleep(for: Self.maintenanceInterval)) != nil {
            await refresh()
            count += 1
            if count.isMultiple(of: Self.intervalsBetweenSaves) { await saveLastUseTimes() }
        }
        // This task is cancelled; the final write needs one that is not.
        await Task.detached { await self.saveLastUseTimes() }.value
    }

    /// Loads the file if it has changed, and notifies the observers of callers that are no longer valid.
    ///
    /// An unreadable file leaves the keys unchanged; a missing file leaves none.
    package func refresh() async {
        do throws(StatusError) {
            try await loadChanges()
        } catch {
            logger.error("Failed to reload the API keys; keeping the previous keys", metadata: ["error": "\(error)"])
        }
        let callbacks = state.withLock { [now = now()] state in state.removeInvalidObservers(at: now) }
        for callback in callbacks { callback() }
    }

    private func loadChanges() async throws(StatusError) {
        guard let file else { return }
        let version = try await file.version()
        let known = state.withLock(\.fileVersion)
        guard version != known else { return }
        let snapshot = try await file.snapshot()
        let earlier = Set(all.map(\.id))
        do throws(StatusError) {
            try load(snapshot)
            let current = Set(all.map(\.id))
            if current != earlier {
                onChange(
                    ExternalChange(created: current.subtracting(earlier).sorted(), revoked: earlier.subtracting(current).sorted())
                )
            }
            if snapshot.bytes == nil {
                logger.warning("Key file deleted; rejecting all keys. Restart the server to run without keys")
            } else {
                logger.notice("Keys changed by another process", metadata: ["key.count": "\(all.count)"])
            }
        } catch {
            // Logged once for each version of the file.
            state.withLock { $0.fileVersion = snapshot.version }
            throw error
        }
    }

    private func saveLastUseTimes() async {
        guard let file, state.withLock(\.hasUnsavedUses) else { return }
        do throws(StatusError) {
            try await update(file) { keys throws(StatusError) in !keys.isEmpty }
        } catch {
            logger.warning("Failed to save the last-use times of keys", metadata: ["error": "\(error)"])
        }
    }
}

extension APIKeyRegistry.State {
    fileprivate func isValid(_ caller: Caller, at now: Timestamp) -> Bool {
        switch caller.identity {
        case .system, .emulatorOwner: true
        case .endUser: caller.user.map { !$0.isExpired(at: now) } ?? true
        case .openAccess: !requiresKeys
        case .unauthenticated: false
        case .key(let id): keys[id].map { !$0.isExpired(at: now) && Caller($0) == caller } ?? false
        }
    }

    /// Removes the observers of callers that are no longer valid, and returns their callbacks.
    fileprivate mutating func removeInvalidObservers(at now: Timestamp) -> [RevocationObservation.Callback] {
        let invalid = observers.keys.filter { !isValid($0, at: now) }
        return invalid.flatMap { observers.removeAll(for: $0) }
    }

    /// Replaces all keys, and keeps their known last-use times.
    fileprivate mutating func replaceKeys(with newKeys: [APIKey]) {
        let known = keys
        keys = [:]
        for var key in newKeys {
            key.recordUse(known[key.id]?.lastUseTime)
            keys[key.id] = key
        }
        order = newKeys.map(\.id)
        requiresKeys = true
    }
}

extension APIKey {
    fileprivate mutating func recordUse(_ time: Timestamp?) {
        lastUseTime = [lastUseTime, time].compactMap(\.self).max()
    }
}
