/// The stream of all targets, and what it tells of the connection.
struct ConnectionState {
    /// False while the application has disabled the network.
    var isEnabled = true
    var tracker = OnlineStateTracker()
    private var targets: Set<TargetID> = []
    /// True if the server has answered on the stream.
    private var hasAnswered = false

    /// The targets of the stream.
    var openTargets: [TargetID] { targets.sorted() }

    var isIdle: Bool { targets.isEmpty }

    func isOpen(_ target: TargetID) -> Bool {
        targets.contains(target)
    }

    mutating func open(_ target: TargetID) {
        targets.insert(target)
    }

    mutating func close(_ target: TargetID) {
        targets.remove(target)
        if isIdle { hasAnswered = false }
    }

    mutating func closeAll() {
        targets = []
        hasAnswered = false
    }

    mutating func answer() {
        hasAnswered = true
        tracker.set(.online)
    }

    /// Records that the stream broke, so that it is opened anew.
    mutating func fail() {
        tracker.fail(hadAnswered: hasAnswered)
        hasAnswered = false
    }

    /// Sets the state without a stream that could tell it.
    mutating func reset(to state: OnlineState) {
        hasAnswered = false
        tracker.set(state)
    }
}
