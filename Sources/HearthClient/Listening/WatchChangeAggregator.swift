internal import DocumentModel
internal import HearthWire
internal import UTF8Text

/// Aggregates the frames of watch streams into consistent states of a target, across resumed streams.
///
/// An update is emitted only when it is complete: never a part of the initial state or of a commit.
struct WatchChangeAggregator {
    private var phase = Phase.initialState
    /// The changes since the last update; `nil` for documents that have been removed.
    private var changes: [DocumentPath: Document?] = [:]
    /// The errors for documents of the target that cannot be read, by document path.
    private var damaged: [String: StatusError] = [:]

    private enum Phase {
        /// Receiving the complete state, which replaces the previous one.
        case initialState
        /// Receiving changes.
        case current
    }

    /// A consistent state or change of the target.
    enum Update {
        /// The complete state: all documents.
        case snapshot([DocumentPath: Document], damaged: [StatusError])
        /// The documents changed by a commit; `nil` for those that have been removed.
        case changes([DocumentPath: Document?], damaged: [StatusError])
    }

    /// Handles the start of a stream, which resumes after the last token or restarts with the complete state.
    ///
    /// Incomplete changes of the previous stream are discarded: the new stream sends them again.
    mutating func streamOpened(isResumed: Bool) {
        changes = [:]
        if !isResumed { reset() }
    }

    /// Adds a frame; returns an update if the frame completes one.
    ///
    /// - Throws: `.internal` for a malformed frame.
    mutating func add(_ frame: WatchFrame) throws(StatusError) -> Update? {
        switch frame.kind {
        case .added, .modified: try addDocument(of: frame)
        case .removed, .deleted: addRemoval(of: try frame.path())
        case .damaged: addDamage(frame.damage)
        case .reset:
            changes = [:]
            reset()
        case .current:
            phase = .current
            defer { changes = [:] }
            return .snapshot(changes.compactMapValues(\.self), damaged: sortedDamage)
        case .open, .checkpoint, .end, .error, .other: break
        // Of streams with several targets.
        case .changed, .snapshot, .targetRemoved, .heartbeat: break
        }
        guard frame.token != nil, phase == .current, !changes.isEmpty else { return nil }
        defer { changes = [:] }
        return .changes(changes, damaged: sortedDamage)
    }

    private mutating func reset() {
        phase = .initialState
        damaged = [:]
    }

    private mutating func addDocument(of frame: WatchFrame) throws(StatusError) {
        guard let encoded = try frame.document() else { throw StatusError(.internal, "Malformed response: expected a document.") }
        do {
            changes[encoded.path] = .some(try encoded.decoded())
            damaged[encoded.path.string] = nil
        } catch {
            // A document that cannot be decoded doesn't affect the others.
            addRemoval(of: encoded.path)
            addDamage(error)
        }
    }

    private mutating func addRemoval(of path: DocumentPath) {
        changes[path] = .some(nil)
        damaged[path.string] = nil
    }

    private mutating func addDamage(_ error: StatusError) {
        damaged[error.path ?? ""] = error
    }

    private var sortedDamage: [StatusError] {
        damaged.sorted { UTF8Key($0.key) < UTF8Key($1.key) }.map(\.value)
    }
}
