/// How a stream waits where the store refuses what it reads, since too much else is asked for that takes long.
///
/// When a page's watchers all come back at once after many changes, there is room for few of them at a time. Each tries again by
/// itself, at moments that differ, so that none waits for what another waits for.
package struct WatchPatience: Sendable {
    /// How long it waits in all before it fails.
    package var total: Duration
    /// How long it waits between two attempts, about.
    package var pause: Duration

    package init(total: Duration, pause: Duration) {
        self.total = total
        self.pause = pause
    }

    /// It fails at once.
    package static let none = WatchPatience(total: .zero, pause: .zero)
    /// That of streams: less than the silence after which clients, and proxies, take a stream for lost.
    package static let ofStreams = WatchPatience(total: .seconds(30), pause: .seconds(1))

    /// A time between half a pause and one and a half.
    var nextPause: Duration { pause * Double.random(in: 0.5...1.5) }
}
