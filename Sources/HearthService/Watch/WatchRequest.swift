/// What a watcher asks for.
package struct WatchRequest: Sendable {
    package var target: WatchTarget
    /// Where to go on, instead of beginning with the whole state.
    package var resume: WatchToken?
    /// What to do when the commits after ``resume`` are no longer kept.
    package var onExpired: ExpiredPolicy
    /// After how much silence a checkpoint is sent.
    package var heartbeat: Duration
    /// How long the stream may last; as long as the watcher stays when nil.
    package var timeout: Duration?

    /// What to do with a token that can't be resumed from.
    package enum ExpiredPolicy: Sendable {
        /// Say so in the stream, and begin with the whole state.
        case reset
        /// Refuse.
        case fail
    }

    package init(
        target: WatchTarget,
        resume: WatchToken? = nil,
        onExpired: ExpiredPolicy = .reset,
        heartbeat: Duration = .seconds(15),
        timeout: Duration? = nil
    ) {
        self.target = target
        self.resume = resume
        self.onExpired = onExpired
        self.heartbeat = heartbeat
        self.timeout = timeout
    }
}
