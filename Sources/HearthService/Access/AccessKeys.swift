package import DocumentModel
import DocumentStore
package import Logging
package import StrictJSON
import Synchronization

/// The keys of a database: who may call its server.
///
/// They stand in a file of the data folder, with the hashes of the keys and not the keys. Commands may change it while a server
/// runs, which ``follow()`` notices within a second.
///
/// While the file was never there, anybody who reaches the server may read and write. Once there is one, every call needs a key,
/// also after the last was revoked or the file was removed: for that to change the server has to be started again.
package final class AccessKeys: Sendable {
    struct State {
        var keys: [UTF8Key: AccessKey] = [:]
        /// The order of the file.
        var order: [UTF8Key] = []
        /// Whether callers need a key.
        var isRequired = false
        /// What was read of the file.
        var version: SideFile.Version?
        /// Which reading of the file that was.
        var reading = 0
        /// Whether keys were used since that was written to the file.
        var hasNewUses = false
        var endings = Endings<Caller>()
    }

    let state = Mutex(State())
    /// Where they are kept; only in memory when nil.
    let file: SideFile?
    let logger: Logger
    let now: @Sendable () -> Timestamp

    /// Makes keys that are kept in memory only, none at first.
    package init(now: @escaping @Sendable () -> Timestamp = Timestamp.current) {
        file = nil
        logger = Logger(label: "hearth.keys", factory: { _ in SwiftLogNoOpLogHandler() })
        self.now = now
    }

    private init(_ file: SideFile, logger: Logger, now: @escaping @Sendable () -> Timestamp) {
        self.file = file
        self.logger = logger
        self.now = now
    }

    /// Reads the keys of a data folder, which a server may have open.
    ///
    /// - Parameter makesFolder: Whether to make a data folder that does not exist.
    /// - Throws: ``StatusCode/dataLoss`` when their file is damaged; what keeps it from being read.
    package static func open(
        inFolder folder: String,
        makingFolder makesFolder: Bool = false,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = Timestamp.current
    ) async throws(StatusError) -> AccessKeys {
        let file = try await SideFile.open(.keys, inFolder: folder, makingFolder: makesFolder)
        let keys = AccessKeys(file, logger: logger, now: now)
        let reading = try await file.reading()
        if reading.bytes != nil { try keys.adopt(reading) }
        return keys
    }

    /// Whether callers need a key.
    package var areRequired: Bool {
        state.withLock(\.isRequired)
    }

    /// Refuses callers without a key from now on, also while there are no keys.
    package func require() {
        let ended = state.withLock { state in
            state.isRequired = true
            return state.takeEnded(at: now())
        }
        for end in ended { end() }
    }

    /// Whether there is a key that is not expired.
    package var isAnyValid: Bool {
        state.withLock { [now = now()] state in state.keys.values.contains { !$0.isExpired(at: now) } }
    }

    /// All keys in the order in which they were made, those included that are expired.
    package var all: [AccessKey] {
        state.withLock { state in state.order.compactMap { state.keys[$0] } }
    }
}

extension AccessKeys {
    /// Why a caller is not known.
    package enum Refusal: Error {
        /// It has not shown a key, and has to.
        case missing
        /// There is no such key, or no longer.
        case unknown
        /// The key of this ID is too old.
        case expired(UTF8Key)
    }

    /// Finds out who calls by the key that it shows.
    ///
    /// - Parameter text: What it shows; nil when that is nothing.
    package func caller(showing text: (some Collection<UInt8> & Sendable)?) throws(Refusal) -> Caller {
        // What is not asked for is not looked at: a client may go on showing the key of another server.
        guard areRequired else { return .anybody }
        guard let text else { throw .missing }
        guard let secret = KeySecret(text) else { throw .unknown }
        let digest = secret.digest
        let now = now()
        return try state.withLock { state throws(Refusal) in
            guard let key = state.keys[secret.id], key.digest.matches(digest) else { throw .unknown }
            guard !key.isExpired(at: now) else { throw .expired(key.id) }
            state.keys[secret.id]?.lastUseTime = now
            state.hasNewUses = true
            return Caller(key)
        }
    }

    /// Finds out who calls also by a key that was made a moment ago, by a command. Those are looked for unless too many unknown ones
    /// have come from there.
    ///
    /// - Parameters:
    ///   - network: Where the caller is.
    ///   - failures: How often each network has shown what is no key.
    package func caller(
        showing text: (some Collection<UInt8> & Sendable)?,
        from network: UTF8Key,
        failures: FailedAttempts
    ) async throws(Refusal) -> Caller {
        do throws(Refusal) {
            return try caller(showing: text)
        } catch .unknown where text.map(Self.isKey) ?? false && !failures.areTooMany(from: network) {
            await refresh()
            return try caller(showing: text)
        }
    }

    /// Whether a text has the form of a key.
    package static func isKey(_ text: some Collection<UInt8>) -> Bool {
        KeySecret(text) != nil
    }

    /// Whether a caller is still who it was: its key is there, not expired, and for the same.
    package func isValid(_ caller: Caller) -> Bool {
        state.withLock { [now = now()] state in state.isValid(caller, at: now) }
    }

    /// Calls back once when a caller is not valid any more, at once when it is not.
    ///
    /// - Returns: What keeps the callback; without it, it is forgotten.
    package func onEnd(of caller: Caller, _ callback: @escaping EndingObservation.Callback) -> EndingObservation {
        let (id, isValid) = state.withLock { [now = now()] state in
            (state.endings.add(caller, callback), state.isValid(caller, at: now))
        }
        if !isValid { callback() }
        return EndingObservation { [weak self] in self?.state.withLock { $0.endings.remove(id) } }
    }
}

extension AccessKeys.State {
    func isValid(_ caller: Caller, at now: Timestamp) -> Bool {
        switch caller.identity {
        case .program: true
        case .anybody: !isRequired
        case .nobody: false
        case .key(let id): keys[id].map { !$0.isExpired(at: now) && Caller($0) == caller } ?? false
        }
    }

    /// Takes the callbacks of those who are not valid any more.
    mutating func takeEnded(at now: Timestamp) -> [EndingObservation.Callback] {
        let ended = endings.keys.filter { !isValid($0, at: now) }
        return ended.flatMap { endings.take($0) }
    }
}
