internal import Synchronization

/// The writes that nobody waits for, in the order in which they were called.
final class WriteQueue: Sendable {
    private let last = Mutex<(number: Int, task: Task<Void, Never>)?>(nil)

    /// Runs an operation once those before it have ended. Its task belongs to the queue: whoever has called does not wait.
    func enqueue(_ operation: @escaping @Sendable () async -> Void) {
        last.withLock { last in
            let previous = last
            let number = (previous?.number ?? 0) + 1
            let task = Task {
                await previous?.task.value
                await operation()
                self.forget(number)
            }
            last = (number, task)
        }
    }

    /// Waits for all that is in the queue now, or until the task is cancelled.
    func settle() async {
        guard let task = last.withLock({ $0?.task }) else { return }
        let (end, signal) = AsyncStream.makeStream(of: Never.self)
        Task {
            await task.value
            signal.finish()
        }
        for await _ in end {}
    }

    private func forget(_ number: Int) {
        last.withLock { if $0?.number == number { $0 = nil } }
    }
}
