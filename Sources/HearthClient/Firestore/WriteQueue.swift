internal import Synchronization

/// A serial queue of writes that were made without `await`.
final class WriteQueue: Sendable {
    private let last = Mutex<(number: Int, task: Task<Void, Never>)?>(nil)

    /// Enqueues an operation, which runs in an unstructured task after all previous operations.
    func enqueue(_ operation: @escaping @Sendable () async -> Void) {
        last.withLock { last in
            let previous = last
            let number = (previous?.number ?? 0) + 1
            let task = Task {
                await previous?.task.value
                await operation()
                self.clear(number)
            }
            last = (number, task)
        }
    }

    /// Waits until the operations enqueued so far have completed, or until the task is cancelled.
    func waitForPending() async {
        guard let task = last.withLock({ $0?.task }) else { return }
        let (end, signal) = AsyncStream.makeStream(of: Never.self)
        Task {
            await task.value
            signal.finish()
        }
        for await _ in end {}
    }

    /// Calls `body` when the operations enqueued so far have completed, in the order of such calls: at once if there are none.
    func afterPending(_ body: @escaping @Sendable () -> Void) {
        if last.withLock({ $0 == nil }) { body() } else { enqueue { body() } }
    }

    private func clear(_ number: Int) {
        last.withLock { if $0?.number == number { $0 = nil } }
    }
}
