import DocumentModel
import DocumentStore
import SecurityRules
import UTF8Text

/// The access of an end user to the target of a stream, by the rules of the database.
///
/// A query is decided once, since a granted one is proved for all of its possible results. A document is decided whenever it is
/// about to be sent. Both are decided again when the rules change, when a document that they have read changes, and, if the
/// decision depends on the time, at intervals. The documents that rules read are those of now and, at a commit that changes one of
/// them, also those of the commit: a stream that lags behind shows nothing of a time in which its user had no access.
struct TargetAccess: Sendable {
    /// What the user asks to see.
    enum Target: Sendable {
        case documents([DocumentPath])
        case query(NormalizedQuery)
    }

    private let gate: RulesGate
    private let store: any DocumentStore
    private let target: Target
    /// The decisions so far: of each document, or of the query.
    private var grants: [DocumentPath?: RulesDecision] = [:]
    /// The documents that decisions depend on.
    private var dependencies: Set<DocumentPath> = []
    private var lastDecision = ContinuousClock.now
    private var dependsOnTime = false

    /// The age at which a decision that depends on the time is made again.
    private static let maximumAge = Duration.seconds(30)

    /// - Parameter store: The store beneath the rules.
    init(to target: Target, _ gate: RulesGate, in store: any DocumentStore) {
        self.target = target
        self.gate = gate
        self.store = store
    }

    /// Decides about the whole target, on the documents of now.
    ///
    /// - Throws: ``StatusCode/permissionDenied`` if the user has no access.
    mutating func decide() async throws(StatusError) {
        grants = try await decisions(asOf: nil)
        recordGrants()
    }

    /// Decides about the target before a commit's changes to it are sent, if the commit changes a document that the decision depends
    /// on: on the documents of now, and on those of the commit.
    ///
    /// - Throws: ``StatusCode/permissionDenied`` if the user has no access.
    mutating func decide(before commit: Commit) async throws(StatusError) {
        guard isAffected(by: commit) else { return }
        if commit.changes.contains(where: { dependencies.contains($0.path) }) { _ = try await decisions(asOf: commit.time) }
        try await decide()
    }

    /// Decides about the target again if it depends on documents, which may have changed since.
    mutating func decideIfDependent() async throws(StatusError) {
        if dependsOnTime || !dependencies.isEmpty { try await decide() }
    }

    /// Returns whether the user had access at the time of a token after which a stream is to be resumed.
    ///
    /// - Parameter position: The position of the store. Clients can make up tokens, so one whose commit is no longer retained, and
    ///   therefore cannot have been compared with it, tells nothing.
    func isGranted(resumingAfter token: ResumeToken, at position: StorePosition) async throws(StatusError) -> Bool {
        guard !dependencies.isEmpty else { return true }
        guard position.oldestRetained <= token.sequence else { return false }
        do throws(StatusError) {
            _ = try await decisions(asOf: token.time)
            return true
        } catch  where [.permissionDenied, .failedPrecondition, .invalidArgument].contains(error.code) {
            return false
        }
    }

    /// Returns the decisions about the whole target.
    ///
    /// - Parameter time: The time of the documents; `nil` for now.
    private func decisions(asOf time: Timestamp?) async throws(StatusError) -> [DocumentPath?: RulesDecision] {
        switch target {
        case .query(let query):
            let (decision, _) = try await gate.requireReadAccess(to: query) { path throws(StatusError) in
                try await gate.rules.lookUp(path, at: time, in: store)
            }
            return [nil: decision]
        case .documents(let paths):
            var decisions: [DocumentPath?: RulesDecision] = [:]
            for path in paths {
                let document = try await gate.concealingDamage { () async throws(StatusError) in
                    try await store.document(at: path, readTime: time)
                }
                decisions[path] = try await decision(about: path, document, asOf: time)
            }
            return decisions
        }
    }

    /// Decides about the documents of a target of documents that are about to be sent.
    ///
    /// - Throws: ``StatusCode/permissionDenied`` if the user has no access to one of them.
    mutating func decide(_ changes: [OutgoingWatchFrame.Change]) async throws(StatusError) {
        guard case .documents = target, !changes.isEmpty else { return }
        for change in changes {
            grants[change.path] = try await decision(about: change.path, change.document, asOf: nil)
        }
        recordGrants()
    }

    private func decision(
        about path: DocumentPath,
        _ document: EncodedDocument?,
        asOf time: Timestamp?
    ) async throws(StatusError) -> RulesDecision {
        try await gate.requireReadAccess(to: path, document) { path throws(StatusError) in
            try await gate.rules.lookUp(path, at: time, in: store)
        }
    }

    private mutating func recordGrants() {
        dependencies = Set(grants.values.lazy.flatMap(\.accesses).map(\.path))
        dependsOnTime = grants.values.contains(where: \.dependsOnTime)
        lastDecision = .now
    }

    /// Returns whether the target has to be decided again before a commit's changes to it are sent.
    func isAffected(by commit: Commit) -> Bool {
        if isDue { return true }
        guard !dependencies.isEmpty else { return false }
        return commit.changes.contains { dependencies.contains($0.path) }
    }

    /// Returns whether a commit changes a document that has to be decided before it is sent.
    func decidesDocuments(of commit: Commit) -> Bool {
        guard case .documents(let paths) = target else { return false }
        return commit.changes.contains { change in paths.contains(change.path) }
    }

    /// True if the target is a list of documents, each of which has to be decided before it is sent.
    var isOfDocuments: Bool {
        if case .documents = target { true } else { false }
    }

    /// True if the decision depends on the time, and is old.
    var isDue: Bool { dependsOnTime && .now - lastDecision >= Self.maximumAge }

    /// True if a stream with the same target may not take part in the delivery to others: its own decisions come first.
    var isDependent: Bool { isOfDocuments || dependsOnTime || !dependencies.isEmpty }
}
