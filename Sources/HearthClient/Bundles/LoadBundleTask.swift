internal import Dispatch
internal import Synchronization

/// A handle of an observer of a ``LoadBundleTask``.
public typealias LoadBundleObserverHandle = Int

/// The loading of a bundle, whose progress can be observed.
public final class LoadBundleTask: Sendable {
    private let queue: DispatchQueue
    private let state = Mutex(State())

    private struct State {
        var observers: [(handle: Int, observer: UncheckedSendable<(LoadBundleTaskProgress) -> Void>)] = []
        var lastHandle = 0
        /// The last progress, after which there is none.
        var end: LoadBundleTaskProgress?
    }

    /// - Parameter queue: The queue for the calls of observers.
    init(queue: DispatchQueue) {
        self.queue = queue
    }

    /// Adds an observer. It is called when the loading begins, after each document, and at the end with ``LoadBundleTaskState/success`` or
    /// ``LoadBundleTaskState/error``, on the queue of the settings. One that is added after the end is called with that.
    ///
    /// - Returns: A handle to remove the observer.
    @discardableResult
    public func addObserver(_ observer: @escaping (LoadBundleTaskProgress) -> Void) -> LoadBundleObserverHandle {
        let observer = UncheckedSendable(observer)
        return state.withLock { state in
            state.lastHandle += 1
            state.observers.append((state.lastHandle, observer))
            if let end = state.end { call(state.lastHandle, observer, end) }
            return state.lastHandle
        }
    }

    /// Removes an observer. It is not called again.
    public func removeObserverWith(handle: LoadBundleObserverHandle) {
        state.withLock { $0.observers.removeAll { $0.handle == handle } }
    }

    /// Removes all observers.
    public func removeAllObservers() {
        state.withLock { $0.observers = [] }
    }

    /// Calls the observers.
    func update(_ progress: LoadBundleTaskProgress) {
        state.withLock { state in
            if progress.state != .inProgress { state.end = progress }
            for (handle, observer) in state.observers { call(handle, observer, progress) }
        }
    }

    private func call(
        _ handle: Int,
        _ observer: UncheckedSendable<(LoadBundleTaskProgress) -> Void>,
        _ progress: LoadBundleTaskProgress
    ) {
        queue.async {
            guard self.isObserving(handle) else { return }
            observer.value(progress)
            // An observer may hold the task.
            if progress.state != .inProgress { self.removeObserverWith(handle: handle) }
        }
    }

    private func isObserving(_ handle: Int) -> Bool {
        state.withLock { $0.observers.contains { $0.handle == handle } }
    }
}
