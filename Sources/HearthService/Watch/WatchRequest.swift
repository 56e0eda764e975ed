package import JSONRPC
import StrictJSON

/// What a watcher asks for.
package struct WatchRequest: Sendable {
    package var target: WatchTarget
    /// Where to go on, instead of where ``start`` says.
    package var resume: WatchToken?
    /// What the stream begins with.
    package var start: Start
    /// What the frames tell of a document.
    package var contents: Contents
    /// Whether a watcher that has fallen behind is told only what became of each document.
    package var coalesces: Bool
    /// After how many changes the stream ends, those of a commit together; never when nil.
    package var limit: Int?
    /// What to do when the commits after ``resume`` are no longer kept.
    package var onExpired: ExpiredPolicy
    /// After how much silence a checkpoint is sent.
    package var heartbeat: Duration
    /// How long the stream may last; as long as the watcher stays when nil.
    package var timeout: Duration?
    /// How the stream waits where too much else is asked for that takes long.
    package var patience: WatchPatience

    /// What to do with a token that can't be resumed from.
    package enum ExpiredPolicy: String, NamedParameter {
        /// Say so in the stream, and begin with the whole state.
        case reset
        /// Refuse.
        case fail
    }

    /// What a stream begins with.
    package enum Start: String, NamedParameter {
        /// The whole state.
        case snapshot
        /// The next change.
        case now
    }

    /// What frames tell of a document.
    package enum Contents: String, NamedParameter {
        /// The document.
        case document
        /// Its path.
        case paths
        /// The document, and also what it was before.
        case before
    }

    /// The parameter for ``contents``.
    package static let include = Parameter<Contents?>(
        "include",
        "What is told of a document: document, paths (its path alone) or before (also what it was before, where it was changed)."
    )

    package init(
        target: WatchTarget,
        resume: WatchToken? = nil,
        start: Start = .snapshot,
        contents: Contents = .document,
        coalesces: Bool = false,
        limit: Int? = nil,
        onExpired: ExpiredPolicy = .reset,
        heartbeat: Duration = .seconds(15),
        timeout: Duration? = nil,
        patience: WatchPatience = .none
    ) {
        self.target = target
        self.resume = resume
        self.start = start
        self.contents = contents
        self.coalesces = coalesces
        self.limit = limit
        self.onExpired = onExpired
        self.heartbeat = heartbeat
        self.timeout = timeout
        self.patience = patience
    }
}
