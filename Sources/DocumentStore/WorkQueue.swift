internal import Dispatch
internal import DocumentModel
internal import Synchronization

/// Runs blocking work on threads of its own, a bounded number at a time, so that Swift's own threads never wait for a disk.
final class WorkQueue: Sendable {
    private struct State {
        var waiting: ArraySlice<@Sendable () -> Void> = []
        var running = 0
    }

    private let state = Mutex(State())
    private let queue: DispatchQueue
    private let width: Int

    init(label: String, width: Int) {
        queue = DispatchQueue(label: label, attributes: .concurrent)
        self.width = width
    }

    /// Runs `work` when a thread is free, in order of arrival, and gives what it returns.
    func run<Result: Sendable>(_ work: @escaping @Sendable () throws(StatusError) -> Result) async throws(StatusError) -> Result {
        try await withCheckedContinuation { continuation in
            submit {
                continuation.resume(returning: Swift.Result { () throws(StatusError) in try work() })
            }
        }.get()
    }

    private func submit(_ job: @escaping @Sendable () -> Void) {
        let needsThread = state.withLock { state in
            state.waiting.append(job)
            guard state.running < width else { return false }
            state.running += 1
            return true
        }
        if needsThread { queue.async { self.drain() } }
    }

    private func drain() {
        while let job = next() { job() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            if let job = state.waiting.popFirst() { return job }
            state.running -= 1
            return nil
        }
    }
}
