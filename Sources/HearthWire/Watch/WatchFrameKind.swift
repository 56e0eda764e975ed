import UTF8Text

extension WatchFrame {
    /// The kinds of frames.
    public enum Kind: Hashable, Sendable {
        /// The stream has been opened.
        case open
        /// A document was added to the target, or is part of the initial state.
        case added
        /// A document was modified.
        case modified
        /// A document still exists but is no longer in the target.
        case removed
        /// A document was deleted.
        case deleted
        /// A document of the target cannot be read, and is omitted from the initial state.
        case damaged
        /// The initial state is complete.
        case current
        /// A new resume token without changes to the target.
        case checkpoint
        /// The state received so far is invalid. The current state follows.
        case reset
        /// In a stream with several targets: a document is in some targets and has left others.
        case changed
        /// In a stream with several targets: all targets that are current show the same commit.
        case snapshot
        /// In a stream with several targets: a target has ended, and the others go on.
        case targetRemoved
        /// In a stream with several targets: nothing else can be sent, since the state of a target is being read.
        case heartbeat
        /// The server ends the stream normally.
        case end
        /// The server ends the stream because of an error.
        case error
        /// A kind unknown to this version, to be ignored.
        case other(String)
    }
}

extension WatchFrame.Kind {
    /// The `type` of the frame.
    package var name: String {
        switch self {
        case .open: "open"
        case .added: "added"
        case .modified: "modified"
        case .removed: "removed"
        case .deleted: "deleted"
        case .damaged: "damaged"
        case .current: "current"
        case .checkpoint: "checkpoint"
        case .reset: "reset"
        case .changed: "changed"
        case .snapshot: "snapshot"
        case .targetRemoved: "targetRemoved"
        case .heartbeat: "heartbeat"
        case .end: "end"
        case .error: "error"
        case .other(let name): name
        }
    }

    /// Creates the kind with a name.
    init(name: String) {
        self = Self.byName[UTF8Key(name)] ?? .other(name)
    }

    private static let byName = Dictionary(
        uniqueKeysWithValues: [
            Self.open, .added, .modified, .removed, .deleted, .damaged, .current, .checkpoint, .reset, .changed, .snapshot,
            .targetRemoved, .heartbeat, .end, .error,
        ]
        .map { (UTF8Key($0.name), $0) }
    )

    /// True for the last frame of a stream.
    package var isLast: Bool { self == .end || self == .error }
}
