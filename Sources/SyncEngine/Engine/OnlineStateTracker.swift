/// The client's knowledge of its connection.
package enum OnlineState: Hashable, Sendable {
    /// Not known: nothing is listened to, or a first attempt is under way. Counts as online for readers that wait for the server.
    case unknown
    /// The server has answered on a stream.
    case online
    /// An attempt has failed, or none has succeeded for some time, or the network is disabled.
    case offline
}

/// The state of the connection, damped so that a break which a new attempt mends at once shows nothing.
struct OnlineStateTracker {
    private(set) var state = OnlineState.unknown
    /// True while the client counts as offline unless a stream answers in time.
    private(set) var isTimerRunning = false
    private var hasFailed = false

    /// Begins a new attempt. Only the first one has time to succeed; a later one runs while the client is offline.
    mutating func startAttempt() {
        guard !hasFailed else { return }
        state = .unknown
        isTimerRunning = true
    }

    /// Records that an attempt has failed, or that the stream broke after it had answered.
    mutating func fail(hadAnswered: Bool) {
        if hadAnswered {
            if state == .online { state = .unknown }
        } else {
            hasFailed = true
            isTimerRunning = false
            state = .offline
        }
    }

    /// Ends the time for the first attempt.
    mutating func fireTimer() {
        guard isTimerRunning else { return }
        isTimerRunning = false
        state = .offline
    }

    /// Sets a state that is known for sure.
    mutating func set(_ state: OnlineState) {
        isTimerRunning = false
        hasFailed = false
        self.state = state
    }
}
