package import DocumentModel
import DocumentStore
import Logging
package import SecurityRules
import StorageIO
import Synchronization
import UTF8Text

/// The security rules of a database: which ones decide now, where they are stored, and whom they have denied.
///
/// The rules are those of the database's own file, or else those of the server. In emulator mode, a test program may replace both.
/// Rules that do not compile do not replace others.
package final class DatabaseRules: Sendable {
    private struct State {
        /// The rules of the database's own file.
        var own: ActiveRules?
        /// The error of the file if its rules could not be used.
        var problem: StatusError?
        /// The version of the file that was read last.
        var fileVersion: AtomicRecordVersion?
        /// The number of the file snapshot that the rules are from.
        var snapshotNumber = 0
        var observers: [UInt64: RevocationObservation.Callback] = [:]
        var lastObserverID: UInt64 = 0
        var denials = RulesDenials()
        var coverage: CollectedCoverage?
        var lookups = LookupMemo()
        /// The files; `nil` while the database does not exist, or if its rules are kept in memory only.
        var files: RulesFiles?
    }

    /// The coverage of one version of the rules.
    private struct CollectedCoverage {
        let version: UTF8Key
        var coverage: RulesCoverage
    }

    /// The database.
    package let database: DatabaseID
    private let registry: RulesRegistry
    private let state = Mutex(State())

    init(of database: DatabaseID, in registry: RulesRegistry) {
        self.database = database
        self.registry = registry
    }

    private var files: RulesFiles? { state.withLock(\.files) }

    /// Begins to use the files of a database that has been created, and reads them.
    func attach(_ files: RulesFiles?) async throws(StatusError) {
        state.withLock { $0.files = files }
        try await refresh()
    }

    /// The rules that decide now; `nil` if there are none, so that end users may do nothing.
    package var active: ActiveRules? {
        if let replacement = registry.replacement(for: database.project) { return replacement }
        let (own, problem) = state.withLock { ($0.own, $0.problem) }
        // A database whose own rules are broken from the start is closed.
        return own ?? (problem == nil ? registry.serverRules : nil)
    }

    /// The error of the database's own file if its rules could not be used; earlier ones still decide if there were any.
    package var problem: StatusError? { state.withLock(\.problem) }

    /// True if denied callers are told the reason: on a server in emulator mode.
    var explainsDenials: Bool { registry.isEmulator }
}

// Changes.
extension DatabaseRules {
    /// Reads the file if it has changed. Rules that do not compile are reported and do not replace others.
    ///
    /// - Throws: The file system's error.
    func refresh() async throws(StatusError) {
        guard let files else { return }
        let version = try await files.rules.version()
        guard version != state.withLock(\.fileVersion) else { return }
        try await load(files.rules.snapshot())
    }

    private func load(_ snapshot: AtomicRecordSnapshot) throws(StatusError) {
        let loaded: Result<ActiveRules?, StatusError> = Result { () throws(StatusError) in
            try snapshot.bytes.map { bytes throws(StatusError) in
                try registry.compile(ActiveRules.text(of: bytes), from: .database)
            }
        }
        let callbacks: [RevocationObservation.Callback]? = state.withLock { state in
            guard snapshot.number > state.snapshotNumber else { return nil }
            (state.snapshotNumber, state.fileVersion) = (snapshot.number, snapshot.version)
            switch loaded {
            case .success(let rules):
                state.problem = nil
                guard state.own?.version != rules?.version else { return nil }
                state.own = rules
                return Array(state.observers.values)
            case .failure(let error):
                state.problem = error
                return []
            }
        }
        guard let callbacks else { return }
        if snapshot.bytes != nil { registry.didFindRules() }
        let logger = registry.logger
        let metadata: Logger.Metadata = ["database.id": "\(database)"]
        switch loaded {
        case .success(let rules?):
            logger.notice("Security rules active", metadata: metadata.merging(["rules.version": "\(rules.version)"]) { $1 })
        case .success(nil):
            logger.notice("Security rules removed", metadata: metadata)
        case .failure(let error):
            logger.error("Security rules rejected", metadata: metadata.merging(["error": "\(error)"]) { $1 })
        }
        for callback in callbacks { callback() }
    }

    /// Returns the contents of the database's own file, whether or not the rules can be used.
    package func stored() async throws(StatusError) -> StoredRules {
        StoredRules(contents: try await files?.rules.snapshot().bytes)
    }

    /// Replaces the rules of the database. They decide, and are durable, when this returns.
    ///
    /// - Parameter precondition: The state of the file that is required.
    /// - Throws: ``StatusCode/invalidArgument`` with all errors for rules that do not compile; ``StatusCode/failedPrecondition``
    ///   if the server keeps no rules of the database; ``StatusCode/aborted`` if the precondition is not met.
    package func set(
        _ text: String,
        requiring precondition: RulesPrecondition = .none
    ) async throws(StatusError) -> ActiveRules {
        let rules = try registry.compile(text, from: .database)
        guard let files else {
            throw StatusError(.failedPrecondition, "The server does not store rules of the database. Pass them with --rules.")
        }
        let current = try await files.rules.snapshot()
        try precondition.check(current.bytes)
        let replaced = current.bytes.flatMap { String(validating: $0, as: UTF8.self) }
        if let replaced, replaced != text {
            let now = registry.now()
            _ = try await files.history.update { bytes throws(StatusError) in
                var history = try RulesHistory(contents: bytes)
                history.add(replaced, replacedAt: now)
                return history.encoded
            }
        }
        let written = try await files.rules.update { bytes throws(StatusError) in
            try precondition.check(bytes)
            return Array(text.utf8)
        }
        try load(written)
        return rules
    }

    /// The versions that later ones have replaced, newest first.
    ///
    /// - Throws: ``StatusCode/dataLoss`` if their file is damaged.
    package func history() async throws(StatusError) -> RulesHistory {
        try RulesHistory(contents: await files?.history.snapshot().bytes)
    }

    /// Registers a callback that runs whenever other rules decide.
    ///
    /// - Returns: The registration; the callback is dropped when it is released.
    func onChange(_ callback: @escaping RevocationObservation.Callback) -> RevocationObservation {
        let id = state.withLock { state in
            state.lastObserverID += 1
            state.observers[state.lastObserverID] = callback
            return state.lastObserverID
        }
        return RevocationObservation { [weak self] in self?.state.withLock { $0.observers[id] = nil } }
    }

    /// Tells the observers that rules outside of the database have changed.
    func notifyObservers() {
        for callback in state.withLock({ Array($0.observers.values) }) { callback() }
    }
}

// Statistics.
extension DatabaseRules {
    /// The denials since the rules became active.
    package var denials: RulesDenials { state.withLock(\.denials) }

    /// The coverage of the rules that decide now; `nil` if it has not been collected.
    package var coverage: RulesCoverage? {
        guard let version = active?.version else { return nil }
        return state.withLock { $0.coverage?.version == version ? $0.coverage?.coverage : nil }
    }

    /// Records a decision.
    func record(_ decision: RulesDecision, of rules: ActiveRules, _ coverage: RulesCoverage?) {
        registry.count(decision)
        guard !decision.isAllowed || coverage != nil else { return }
        let time = registry.now()
        state.withLock { state in
            if !decision.isAllowed { state.denials.record(decision, of: rules.version, at: time) }
            guard let coverage else { return }
            if state.coverage?.version != rules.version {
                state.coverage = CollectedCoverage(version: rules.version, coverage: coverage)
            } else {
                state.coverage?.coverage.merge(coverage)
            }
        }
    }

    /// Returns a document that rules of streams read. Streams that are decided again because of the same commit share it.
    ///
    /// - Parameter time: The time of the document; `nil` for the position of the store at the call, or later.
    func lookUp(
        _ path: DocumentPath,
        at time: Timestamp?,
        in store: any DocumentStore
    ) async throws(StatusError) -> MapValue? {
        let position = store.position
        let key = LookupMemo.Key(path: path, time: time)
        // The stream may begin after the position of a store that is behind. What was read as of that position is too old for it.
        let isShared = !position.isBehind
        if isShared, let known = state.withLock({ $0.lookups.fields(of: key, asOf: position) }) { return known }
        let document = try await store.document(at: path, readTime: time)
        let fields = try document?.decoded().fields
        guard isShared else { return fields }
        state.withLock { $0.lookups.add(fields, byteCount: document?.fieldsJSON.count ?? 0, of: key, asOf: position) }
        return fields
    }
}

/// The documents that the rules of streams have read since the last commit.
private struct LookupMemo {
    struct Key: Hashable {
        let path: DocumentPath
        /// The time of the document; `nil` for the latest.
        let time: Timestamp?
    }

    /// The last commit. Its number alone does not identify it: an engine that lost commits gives it again.
    private var last: (sequence: SequenceNumber, time: Timestamp?) = (.zero, nil)
    private var documents: [Key: MapValue?] = [:]
    /// The size of the documents in JSON.
    private var byteCount = 0

    private static let maximumCount = 1_024
    private static let maximumBytes = 4 << 20
    /// The size of a document up to which it is kept.
    private static let maximumDocumentBytes = 64 << 10

    func fields(of key: Key, asOf position: StorePosition) -> MapValue?? {
        last == (position.lastSequence, position.lastCommitTime) ? documents[key] : nil
    }

    mutating func add(_ fields: MapValue?, byteCount: Int, of key: Key, asOf position: StorePosition) {
        guard byteCount <= Self.maximumDocumentBytes else { return }
        let current = (position.lastSequence, position.lastCommitTime)
        if current != last || documents.count >= Self.maximumCount || self.byteCount + byteCount > Self.maximumBytes {
            documents = [:]
            self.byteCount = 0
        }
        last = current
        self.byteCount += byteCount
        documents.updateValue(fields, forKey: key)
    }
}
