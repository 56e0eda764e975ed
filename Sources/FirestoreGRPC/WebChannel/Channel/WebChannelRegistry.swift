import Synchronization
import UTF8Text

/// The channels of a stream method by their IDs.
///
/// Channels with a stream are limited by the slots for watch streams, those whose stream has ended, or was refused, by their number.
final class WebChannelRegistry: Sendable {
    fileprivate struct State {
        var channels: [UTF8Key: WebChannel] = [:]
        /// The channels whose streams have ended, in that order.
        var ended: [UTF8Key] = []
        /// The channels whose streams were refused, in that order. They are apart, so that callers who may not open a stream cannot
        /// push out the status of others.
        var refused: [UTF8Key] = []
    }

    /// Tells the time of all channels.
    let now: @Sendable () -> WebChannelState.Instant
    private let state = Mutex(State())

    /// The maximum number of channels whose streams have ended, and of those whose streams were refused.
    let maximumEndedCount: Int
    /// The interval at which the times of channels are enforced.
    private static let checkInterval = Duration.seconds(1)

    init(maximumEndedCount: Int = 256, now: @escaping @Sendable () -> WebChannelState.Instant = { .now }) {
        self.maximumEndedCount = maximumEndedCount
        self.now = now
    }

    /// The number of channels.
    var count: Int { state.withLock(\.channels.count) }

    func add(_ channel: WebChannel) {
        state.withLock { $0.channels[channel.sid] = channel }
    }

    /// Returns the channel with an ID.
    func channel(_ sid: UTF8Key) -> WebChannel? {
        state.withLock { $0.channels[sid] }
    }

    /// Removes and closes a channel.
    func close(_ sid: UTF8Key) {
        let channel = state.withLock { state in
            state.ended.removeAll { $0 == sid }
            state.refused.removeAll { $0 == sid }
            return state.channels.removeValue(forKey: sid)
        }
        channel?.close()
    }

    /// Adds a channel whose stream was refused. It remains until its client has been told, unless too many do.
    func addRefused(_ channel: WebChannel) {
        add(channel)
        let surplus = state.withLock { $0.recordEnd(of: channel.sid, in: \.refused, atMost: maximumEndedCount) }
        if let surplus { close(surplus) }
    }

    /// Records that the stream of a channel has ended. The channel remains until its client has been told, unless too many do.
    func recordEnd(of channel: WebChannel) {
        let surplus = state.withLock { $0.recordEnd(of: channel.sid, in: \.ended, atMost: maximumEndedCount) }
        if let surplus { close(surplus) }
    }

    /// Enforces the times of all channels, and closes those that have expired.
    func check() {
        let channels = state.withLock { Array($0.channels.values) }
        for channel in channels where channel.check() { close(channel.sid) }
    }

    /// Calls ``check()`` at intervals, until the task is cancelled.
    func runChecks() async {
        while (try? await Task.sleep(for: Self.checkInterval)) != nil { check() }
    }
}

extension WebChannelRegistry.State {
    /// Adds a channel to a list, and returns the one that it pushes out.
    fileprivate mutating func recordEnd(
        of sid: UTF8Key,
        in list: WritableKeyPath<WebChannelRegistry.State, [UTF8Key]>,
        atMost maximumCount: Int
    ) -> UTF8Key? {
        guard channels[sid] != nil else { return nil }
        self[keyPath: list].append(sid)
        return self[keyPath: list].count > maximumCount ? self[keyPath: list].first : nil
    }
}
