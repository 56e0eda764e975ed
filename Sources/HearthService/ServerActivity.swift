import Synchronization

/// What goes on in a server: how many watch it.
package final class ServerActivity: Sendable {
    private let watchers = Mutex(0)

    package init() {}

    /// How many streams are open.
    package var watcherCount: Int { watchers.withLock { $0 } }

    /// Notes that a stream was opened, or closed.
    package func note(watchers change: Int) {
        watchers.withLock { $0 += change }
    }
}
