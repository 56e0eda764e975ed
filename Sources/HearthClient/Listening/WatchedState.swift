internal import DocumentModel
internal import StrictJSON

/// What the frames of watch streams say about a target, across any number of streams that go on where the one before broke off.
///
/// Nothing is shown before it is complete: neither half of the initial state nor half of a commit.
struct WatchedState {
    private var phase = Phase.reading
    /// What the frames have said since it was last complete: documents that are there, or no more.
    private var changes: [DocumentPath: Document?] = [:]
    /// The documents of the target that can't be read.
    private var damaged: [String: StatusError] = [:]

    private enum Phase {
        /// The whole state comes, and takes the place of what was known.
        case reading
        /// Changes come.
        case following
    }

    /// What has become complete with a frame.
    enum Update {
        /// The whole state: all documents there are.
        case everything([DocumentPath: Document], damaged: [StatusError])
        /// The documents that a commit has changed, nil for those that it has removed.
        case changes([DocumentPath: Document?], damaged: [StatusError])
    }

    /// A new stream begins, which goes on after the last token or begins anew: what was half said comes again.
    mutating func connect(isResumed: Bool) {
        changes = [:]
        if !isResumed { beginAnew() }
    }

    /// Takes a frame.
    ///
    /// - Throws: `.internal` for a frame that can't be read.
    mutating func take(_ frame: WatchFrame) throws(StatusError) -> Update? {
        switch frame.kind {
        case .added, .modified: try takeDocument(of: frame)
        case .removed, .deleted: takeRemoval(of: try DocumentPath(frame.json.string("path")))
        case .other("damaged"): takeDamage(StatusError(damaged: frame.json))
        case .reset:
            changes = [:]
            beginAnew()
        case .current:
            phase = .following
            defer { changes = [:] }
            return .everything(changes.compactMapValues(\.self), damaged: damagedInOrder)
        case .open, .checkpoint, .end, .error, .other: break
        }
        guard frame.token != nil, phase == .following, !changes.isEmpty else { return nil }
        defer { changes = [:] }
        return .changes(changes, damaged: damagedInOrder)
    }

    private mutating func beginAnew() {
        phase = .reading
        damaged = [:]
    }

    private mutating func takeDocument(of frame: WatchFrame) throws(StatusError) {
        guard let encoded = try frame.document() else { throw .unreadable(frame.json, expected: "a document") }
        do {
            changes[encoded.path] = .some(try encoded.decoded())
            damaged[encoded.path.string] = nil
        } catch {
            // One document that can't be read leaves the others alone.
            takeRemoval(of: encoded.path)
            takeDamage(error)
        }
    }

    private mutating func takeRemoval(of path: DocumentPath) {
        changes[path] = .some(nil)
        damaged[path.string] = nil
    }

    private mutating func takeDamage(_ error: StatusError) {
        damaged[error.path ?? ""] = error
    }

    private var damagedInOrder: [StatusError] {
        damaged.sorted { UTF8Key($0.key) < UTF8Key($1.key) }.map(\.value)
    }
}
