internal import DocumentModel
internal import Synchronization

/// Combines concurrent reads of single documents into batch requests.
///
/// While there are fewer pending requests than connections, each read is sent immediately in its own request. Further reads would
/// have to wait for a connection anyway, so they are queued and sent together in one request.
final class DocumentReadBatcher<Answer: Sendable>: Sendable {
    /// Sends reads in one request and returns their results in the same order.
    typealias Request = @Sendable ([DocumentPath]) async -> [Result<Answer, StatusError>]

    private struct State {
        /// The number of pending requests.
        var requestCount = 0
        var queue: [QueuedRead<Answer>] = []
    }

    private let maximumRequests: Int
    private let state = Mutex(State())

    /// The maximum number of reads per request.
    private static var maximumReads: Int { 100 }

    /// - Parameter maximumRequests: The number of concurrent requests before reads are queued.
    init(maximumRequests: Int) {
        self.maximumRequests = maximumRequests
    }

    /// Reads a document.
    func document(at path: DocumentPath, _ request: @escaping Request) async throws(StatusError) -> Answer {
        let queued: QueuedRead<Answer>? = state.withLock { state in
            guard state.requestCount >= maximumRequests else {
                state.requestCount += 1
                return nil
            }
            let queued = QueuedRead<Answer>(of: path)
            state.queue.append(queued)
            return queued
        }
        if let queued { return try await queued.value().get() }
        defer { requestCompleted(request) }
        guard let result = await request([path]).first else {
            throw StatusError(.internal, "A read has no result.", path: path.string)
        }
        return try result.get()
    }

    /// Sends the next batch of queued reads, if any.
    private func requestCompleted(_ request: @escaping Request) {
        let next: [QueuedRead<Answer>] = state.withLock { state in
            state.queue.removeAll(where: \.isCompleted)
            let next = Array(state.queue.prefix(Self.maximumReads))
            state.queue.removeFirst(next.count)
            if next.isEmpty { state.requestCount -= 1 }
            return next
        }
        guard !next.isEmpty else { return }
        // An unstructured task, since the caller or any of the queued readers may be cancelled.
        Task {
            let results = await request(next.map(\.path))
            for (read, result) in zip(next, results) { read.complete(with: result) }
            self.requestCompleted(request)
        }
    }
}

/// A read that is waiting for its batch request.
private final class QueuedRead<Answer: Sendable>: Sendable {
    private enum State {
        case queued
        case waiting(CheckedContinuation<Result<Answer, StatusError>, Never>)
        case completed(Result<Answer, StatusError>)
    }

    let path: DocumentPath
    private let state = Mutex(State.queued)

    init(of path: DocumentPath) {
        self.path = path
    }

    var isCompleted: Bool {
        state.withLock { if case .completed = $0 { true } else { false } }
    }

    /// Waits for the result. Call it once.
    func value() async -> Result<Answer, StatusError> {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Result<Answer, StatusError>? = state.withLock { state in
                    if case .completed(let result) = state { return result }
                    state = .waiting(continuation)
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            complete(with: .failure(StatusError(.cancelled, "The call was cancelled.")))
        }
    }

    /// Completes the read. Only the first call has an effect.
    func complete(with result: Result<Answer, StatusError>) {
        let continuation: CheckedContinuation<Result<Answer, StatusError>, Never>? = state.withLock { state in
            switch state {
            case .completed: return nil
            case .queued:
                state = .completed(result)
                return nil
            case .waiting(let continuation):
                state = .completed(result)
                return continuation
            }
        }
        continuation?.resume(returning: result)
    }
}
