internal import Dispatch
internal import DocumentIndex
internal import Journal
internal import StorageIO
internal import Synchronization

/// Gives the memory of an idle store's caches back to the operating system.
///
/// A store that has neither read nor written for some time needs no caches: documents are read again from their files, which
/// the system caches, and the index from its own. Each release is followed by a trim of the allocator, which keeps freed pages
/// otherwise.
final class IdleMemoryRelease: Sendable {
    private struct State {
        /// The use counts at the last check.
        var useCount: Int?
        /// True if the memory has been released since the last use.
        var isReleased = false
        var isStopped = false
    }

    private let components: StoreComponents
    private let interval: Duration
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "hearth.memory", qos: .utility)

    /// Creates a release after `interval` without a use.
    init(_ components: StoreComponents, after interval: Duration) {
        self.components = components
        self.interval = interval
    }

    /// Starts to check for uses, until ``stop()`` or deallocation.
    func start() {
        let milliseconds = max(1, Int(interval / .milliseconds(1)))
        queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            guard let self, !self.state.withLock({ $0.isStopped }) else { return }
            self.check()
            self.start()
        }
    }

    /// Ends the checks.
    func stop() {
        state.withLock { $0.isStopped = true }
    }

    private func check() {
        // Otherwise only commits remove them.
        components.files.watch?.watcher.removeIdleWatches()
        let useCount = components.cache.useCount + components.index.useCount
        let isDue = state.withLock { state in
            let isUnused = state.useCount == useCount
            state.useCount = useCount
            guard isUnused else {
                state.isReleased = false
                return false
            }
            defer { state.isReleased = true }
            return !state.isReleased
        }
        guard isDue else { return }
        components.cache.removeAll()
        components.history.releaseMemory()
        components.index.releaseMemory()
        Allocator.trim()
    }
}
