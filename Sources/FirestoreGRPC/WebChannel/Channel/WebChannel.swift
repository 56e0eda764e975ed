import Concurrency
import DocumentModel
import HearthAPI
import HearthHTTP
import Synchronization
import UTF8Text

/// A channel: the stream of a web client over HTTP requests.
///
/// It owns the channel's ``WebChannelState``, and wakes who waits for it: the stream, the request with its back channel, and requests
/// with messages that the stream has no space for.
final class WebChannel: Sendable {
    fileprivate struct State {
        var channel: WebChannelState
        /// The stream, while it runs.
        var stream: (any OpenStream)?
        /// True if the stream is to end, even if the client does not read.
        var isEnding = false
        /// True if the client has lost access.
        var isRevoked = false
        /// The stream's wait for messages.
        var messageWaiter: Waiter?
        /// The stream's wait for the client to read.
        var writeWaiter: Waiter?
        /// The wait of the back channel.
        var backChannelWaiter: Waiter?
        /// The waits of requests for space.
        var spaceWaiters = Waiters()
    }

    /// The unguessable ID, which authorizes all requests after the handshake.
    let sid: UTF8Key
    private let now: @Sendable () -> WebChannelState.Instant
    private let state: Mutex<State>

    init(now: @escaping @Sendable () -> WebChannelState.Instant) {
        sid = UTF8Key(Base64.url.encode(RandomBytes.make(16)))
        self.now = now
        state = Mutex(State(channel: WebChannelState(at: now())))
    }

    /// Changes the state, and wakes those whose conditions are met.
    private func update<Result>(_ change: (inout State, _ now: WebChannelState.Instant) -> Result) -> Result {
        let (result, waiters) = state.withLock { [now = now()] state in
            let result = change(&state, now)
            return (result, state.removeReadyWaiters(at: now))
        }
        for waiter in waiters { waiter.resume() }
        return result
    }

    // MARK: - Messages

    /// The maximum number of requests that wait for space. Clients send at most ten at the same time.
    private static let maximumWaitingRequests = 16

    /// Receives a message of the client, once there is space for it.
    ///
    /// - Returns: False if there is no space.
    /// - Throws: `CancellationError`.
    func receive(_ message: WebChannelInput.Message, id: Int) async throws -> Bool {
        while true {
            let (outcome, waiter): (WebChannelInput.Outcome, Waiter?) = update { state, now in
                let outcome = state.channel.receive(message, id: id, at: now)
                guard outcome == .mustWait else { return (outcome, nil) }
                guard state.spaceWaiters.count < Self.maximumWaitingRequests else { return (.full, nil) }
                return (outcome, state.spaceWaiters.add())
            }
            switch outcome {
            case .accepted, .known: return true
            case .full: return false
            case .mustWait: break
            }
            guard let waiter, await waiter.wait() else { throw CancellationError() }
        }
    }

    /// Removes the arrays that the client has received.
    ///
    /// - Returns: False if not all of them have been sent.
    func acknowledge(_ id: Int) -> Bool {
        // Released after the lock.
        let acknowledged = update { state, _ in state.channel.acknowledge(id) }
        return acknowledged != nil
    }

    /// The response to messages of the client.
    var status: [UInt8] { state.withLock { $0.channel.status } }

    // MARK: - Stream

    /// Sets the stream that the channel ends when it is closed.
    func setStream(_ stream: any OpenStream) {
        let isClosed = state.withLock { state in
            state.stream = stream
            return state.channel.isClosed
        }
        if isClosed { stream.end(nil) }
    }

    /// Returns the next message of the client; `nil` when the channel is closed.
    func nextMessage() async -> WebChannelInput.Message? {
        while true {
            let (message, hasEnded, waiter, spaceWaiters) = update { state, _ in
                let message = state.channel.nextMessage()
                let hasEnded = state.channel.hasEnded
                let waiter = message == nil && !hasEnded ? Waiter() : nil
                state.messageWaiter = waiter
                return (message, hasEnded, waiter, message == nil ? [] : state.spaceWaiters.removeAll())
            }
            for waiter in spaceWaiters { waiter.resume() }
            if let message { return message }
            guard !hasEnded, let waiter, await waiter.wait() else { return nil }
        }
    }

    /// Appends arrays, once the client has acknowledged enough of those before, and there is memory for them.
    ///
    /// - Throws: ``StatusCode/cancelled`` if the task is cancelled, or the stream is being ended.
    func write(_ contents: [[UInt8]], within budget: MemoryBudget) async throws(StatusError) {
        let byteCount = contents.reduce(0) { $0 + $1.count }
        while true {
            let reservation = MemoryBudget.Reservation(of: budget)
            let isReserved = reservation.grow(by: byteCount)
            let arrays = contents.map { WebChannelOutput.OutgoingArray(content: $0, reservation: isReserved ? reservation : nil) }
            let (isEnding, waiter): (Bool, Waiter?) = update { state, _ in
                // A channel that retains nothing gets a few arrays of memory in any case.
                if isReserved || state.channel.block(), state.channel.append(arrays) { return (false, nil) }
                // Only instead of waiting: the response to a commit that has been made is sent if there is space.
                if state.isEnding { return (true, nil) }
                let waiter = Waiter()
                state.writeWaiter = waiter
                return (false, waiter)
            }
            guard !isEnding else { throw StatusError(.cancelled, "The stream was ended.") }
            guard let waiter else { return }
            guard await waiter.wait() else { throw StatusError(.cancelled, "The stream was cancelled.") }
        }
    }

    /// Appends arrays if the client has acknowledged enough of those before, and there is memory for them. Returns whether it did.
    func writeIfWritable(_ contents: [[UInt8]], within budget: MemoryBudget) -> Bool {
        let reservation = MemoryBudget.Reservation(of: budget)
        guard reservation.grow(by: contents.reduce(0) { $0 + $1.count }) else { return false }
        let arrays = contents.map { WebChannelOutput.OutgoingArray(content: $0, reservation: reservation) }
        return update { state, _ in !state.isEnding && state.channel.append(arrays) }
    }

    /// Records that the stream has ended.
    ///
    /// - Parameter content: The last array of the channel.
    func finish(with content: [UInt8]) {
        // Released after the lock.
        _ = update { state, now in
            state.stream = nil
            let unsent = state.isRevoked ? state.channel.removeUnsentArrays() : []
            return (unsent, state.channel.end(content, at: now))
        }
    }

    // MARK: - Back channel

    /// Opens a back channel; see ``WebChannelState/attach(after:longPoll:at:)``.
    func attach(after id: Int, longPoll timeout: Duration?) -> Int? {
        let (backChannel, waiter) = update { state, now in
            let backChannel = state.channel.attach(after: id, longPoll: timeout, at: now)
            defer { state.backChannelWaiter = nil }
            return (backChannel, state.backChannelWaiter)
        }
        // The request with the back channel before ends.
        waiter?.resume()
        return backChannel
    }

    /// Closes a back channel whose client has disconnected.
    func detach(_ backChannel: Int) {
        update { state, now in state.channel.detach(backChannel, at: now) }
    }

    /// Returns the next chunk of a back channel as soon as there is one; `nil` when it ends.
    ///
    /// - Throws: `CancellationError`.
    func nextChunk(of backChannel: Int) async throws -> [UInt8]? {
        while true {
            let (action, waiter) = update { state, now in
                let action = state.channel.nextAction(of: backChannel, at: now)
                let waiter = action == .wait ? Waiter() : nil
                if let waiter { state.backChannelWaiter = waiter }
                return (action, waiter)
            }
            switch action {
            case .write(let chunk): return chunk
            case .end: return nil
            case .wait: break
            }
            guard let waiter, await waiter.wait() else {
                detach(backChannel)
                throw CancellationError()
            }
        }
    }

    // MARK: - End

    /// Enforces the times of the channel. Returns whether it has expired.
    func check() -> Bool {
        update { state, now in state.channel.check(at: now) }
    }

    /// Closes the channel: ends its stream and its requests, and releases what it retained.
    func close() {
        let (stream, retained) = update { state, _ in
            defer { state.stream = nil }
            return (state.stream, state.channel.close())
        }
        withExtendedLifetime(retained) {}
        stream?.end(nil)
    }
}

extension WebChannel: OpenStream {
    /// Ends the stream, even while it waits for its client to read.
    func end(_ reason: OutgoingWatchFrame.EndReason?) {
        // First, so that its reason is the one that the client gets.
        state.withLock(\.stream)?.end(reason)
        let waiter = state.withLock { state in
            state.isEnding = true
            if reason == .revoked || reason == .unauthenticated { state.isRevoked = true }
            defer { state.writeWaiter = nil }
            return state.writeWaiter
        }
        waiter?.resume()
    }
}

extension WebChannel.State {
    /// Removes the waiters whose conditions are met.
    fileprivate mutating func removeReadyWaiters(at now: WebChannelState.Instant) -> [Waiter] {
        var ready: [Waiter?] = []
        if channel.input.hasNext || channel.hasEnded {
            ready.append(messageWaiter)
            messageWaiter = nil
        }
        if channel.canAppend || isEnding {
            ready.append(writeWaiter)
            writeWaiter = nil
        }
        if channel.isBackChannelReady(at: now) {
            ready.append(backChannelWaiter)
            backChannelWaiter = nil
        }
        if channel.hasEnded { ready += spaceWaiters.removeAll() }
        return ready.compactMap(\.self)
    }
}
