/// The state machine of a channel, without I/O: its messages in both directions, its back channel, and its end.
///
/// - Messages of the client are taken in the order of their numbers, each once.
/// - Arrays are sent on the back channel until the client acknowledges them. A new back channel replaces the one before and begins
///   behind the array that its client has received last.
/// - The first bytes of a back channel are sent at once. It never ends without any, nor between two halves of a chunk. It ends after a
///   minute, after some megabytes, and when the stream waits for an acknowledgement, which the client's next one brings.
/// - When the stream ends, the client receives its status, and the channel remains for a while for what it may still send.
/// - A channel expires without a back channel, and when it waits too long for an acknowledgement or for a missing message.
struct WebChannelState {
    typealias Instant = ContinuousClock.Instant

    private struct BackChannel {
        let id: Int
        let isLongPoll: Bool
        /// The last array that was sent on it.
        var sentID: Int
        var sentBytes = 0
        /// The time at which it needs a `noop`.
        var noopTime: Instant
        let endTime: Instant
    }

    private(set) var input = WebChannelInput()
    private(set) var output = WebChannelOutput()
    private var backChannel: BackChannel?
    private var lastBackChannelID = 0
    /// The time since which there is no back channel.
    private var detachTime: Instant
    /// The time since which messages wait for the one that is missing.
    private var gapTime: Instant?
    /// The time since which the stream waits for a client that has been sent everything and acknowledges nothing.
    private var stallTime: Instant?
    /// The time at which the stream ended.
    private var endTime: Instant?
    /// True if the channel has been terminated or has expired.
    private(set) var isClosed = false

    /// The silence after which a stream needs a `noop`. With the interval of the checks, no client waits longer than 30 s.
    static let maximumSilence = Duration.seconds(28)
    static let maximumBackChannelDuration = Duration.seconds(60)
    static let maximumBackChannelBytes = 4 << 20
    /// The duration without a back channel after which a channel expires.
    static let maximumDetachedDuration = Duration.seconds(75)
    /// The duration for which a stream waits for an acknowledgement of what has been sent before the channel expires.
    static let maximumStallDuration = Duration.seconds(75)
    /// The duration for which messages wait for a missing one before the channel expires.
    static let maximumGapDuration = Duration.seconds(75)
    /// The duration for which a channel remains when its stream has ended.
    static let endedRetention = Duration.seconds(30)

    /// Creates the state of a new channel.
    init(at now: Instant) {
        detachTime = now
    }

    /// True if the stream has ended.
    var hasEnded: Bool { endTime != nil || isClosed }

    /// The response to messages of the client.
    var status: [UInt8] {
        WebChannelChunk.status(
            isAttached: backChannel != nil,
            lastID: output.lastID,
            unacknowledgedBytes: output.byteCount
        )
    }

    // MARK: - Messages

    /// Receives a message of the client. It is discarded if the stream has ended.
    mutating func receive(_ message: WebChannelInput.Message, id: Int, at now: Instant) -> WebChannelInput.Outcome {
        guard !hasEnded else { return .accepted }
        let missingID = input.nextID
        let outcome = input.receive(message, id: id)
        if !input.hasGap { gapTime = nil } else if gapTime == nil || input.nextID != missingID { gapTime = now }
        return outcome
    }

    /// Takes the next message for the stream.
    mutating func nextMessage() -> WebChannelInput.Message? {
        input.next()
    }

    /// Appends arrays of the stream, unless it has to wait.
    mutating func append(_ arrays: [WebChannelOutput.OutgoingArray]) -> Bool {
        hasEnded || output.append(arrays)
    }

    /// Makes the stream wait until the client acknowledges arrays; see ``WebChannelOutput/block()``.
    mutating func block() -> Bool {
        hasEnded || output.block()
    }

    /// True if the stream need not wait before it appends arrays.
    var canAppend: Bool { hasEnded || !output.isBlocked }

    /// Removes the arrays that the client has received, and returns them; `nil` if not all of them have been sent.
    mutating func acknowledge(_ id: Int) -> [WebChannelOutput.OutgoingArray]? {
        guard let acknowledged = output.acknowledge(id) else { return nil }
        if !acknowledged.isEmpty { stallTime = nil }
        // They may have been sent on an earlier back channel.
        if let sentID = backChannel?.sentID { backChannel?.sentID = max(sentID, output.acknowledgedID) }
        return acknowledged
    }

    // MARK: - Back channel

    /// Opens a back channel, in place of the one before. The client's acknowledgement has been received.
    ///
    /// - Parameters:
    ///   - receivedID: The last array that the client has received.
    ///   - timeout: The longest duration of a long poll, `nil` for a stream.
    /// - Returns: The ID of the back channel; `nil` if the stream has ended and the client has received everything.
    mutating func attach(after receivedID: Int, longPoll timeout: Duration?, at now: Instant) -> Int? {
        let sentID = max(receivedID, output.acknowledgedID)
        if hasEnded, isClosed || sentID >= output.lastID { return nil }
        lastBackChannelID += 1
        backChannel = BackChannel(
            id: lastBackChannelID,
            isLongPoll: timeout != nil,
            sentID: sentID,
            // A poll may not last longer than the client says, and checks are a second apart.
            noopTime: now + min(Self.maximumSilence, timeout.map { $0 - .seconds(1) } ?? .zero),
            endTime: now + Self.maximumBackChannelDuration
        )
        if timeout == nil { appendNoop(ifDueAt: now) }
        return lastBackChannelID
    }

    /// Closes a back channel, unless it has been replaced.
    mutating func detach(_ id: Int, at now: Instant) {
        guard backChannel?.id == id else { return }
        backChannel = nil
        detachTime = now
    }

    /// The next action for a back channel.
    enum Action: Hashable {
        case write([UInt8])
        case wait
        /// End the response.
        case end
    }

    /// Returns the next action for a back channel. It is detached when it ends.
    mutating func nextAction(of id: Int, at now: Instant) -> Action {
        guard let current = backChannel, current.id == id, !isClosed else { return .end }
        switch step(of: current, at: now) {
        case .wait:
            return .wait
        case .end:
            detach(id, at: now)
            return .end
        case .write:
            guard let chunk = output.nextChunk(after: current.sentID) else { return .wait }
            backChannel?.sentID = chunk.lastID
            backChannel?.sentBytes += chunk.bytes.count
            backChannel?.noopTime = now + Self.maximumSilence
            return .write(chunk.bytes)
        }
    }

    /// Returns whether the back channel has to write or to end.
    func isBackChannelReady(at now: Instant) -> Bool {
        guard let backChannel, !isClosed else { return true }
        return step(of: backChannel, at: now) != .wait
    }

    private enum Step {
        case write
        case wait
        case end
    }

    private func step(of backChannel: BackChannel, at now: Instant) -> Step {
        let maximumBytes = backChannel.isLongPoll ? 1 : Self.maximumBackChannelBytes
        guard backChannel.sentBytes < maximumBytes else { return .end }
        if backChannel.sentID < output.lastID { return .write }
        let isComplete = !backChannel.isLongPoll && (output.isBlocked || now >= backChannel.endTime)
        return isComplete || endTime != nil ? .end : .wait
    }

    private mutating func appendNoop(ifDueAt now: Instant) {
        guard endTime == nil, let backChannel, backChannel.sentID >= output.lastID, now >= backChannel.noopTime else { return }
        output.append(WebChannelOutput.noop)
    }

    // MARK: - End

    /// Ends the stream, and returns its unprocessed messages.
    ///
    /// - Parameter content: The last array of the channel.
    mutating func end(_ content: [UInt8], at now: Instant) -> [WebChannelInput.Message] {
        guard !hasEnded else { return [] }
        endTime = now
        output.append(content)
        return input.removeAll()
    }

    /// Removes the arrays that have not been sent, to a client that may not read them any more, and returns them.
    mutating func removeUnsentArrays() -> [WebChannelOutput.OutgoingArray] {
        output.removeUnsent()
    }

    /// Closes the channel, and returns all that it retained.
    mutating func close() -> ([WebChannelInput.Message], [WebChannelOutput.OutgoingArray]) {
        isClosed = true
        backChannel = nil
        return (input.removeAll(), output.removeAll())
    }

    /// Enforces the times of the channel. Called at intervals.
    ///
    /// - Returns: Whether the channel has expired.
    mutating func check(at now: Instant) -> Bool {
        if let endTime, now - endTime >= Self.endedRetention { return true }
        if !output.isBlocked || output.sentID < output.lastID { stallTime = nil } else if stallTime == nil { stallTime = now }
        if let stallTime, endTime == nil, now - stallTime >= Self.maximumStallDuration { return true }
        if let gapTime, endTime == nil, now - gapTime >= Self.maximumGapDuration { return true }
        guard backChannel != nil else { return isClosed || now - detachTime >= Self.maximumDetachedDuration }
        appendNoop(ifDueAt: now)
        return false
    }
}
