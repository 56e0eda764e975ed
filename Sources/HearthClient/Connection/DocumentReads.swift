internal import DocumentModel
internal import Synchronization

/// Reads of single documents, which share requests when many are asked for at the same time.
///
/// A read is sent at once, by itself, as long as few requests are under way. Those that come when there are as many as there are
/// connections would have to wait for one of them in any case: they wait together, and go in one request.
final class DocumentReads: Sendable {
    /// Carries out reads in one request; what came of each, in their order.
    typealias Request = @Sendable ([DocumentPath]) async -> [Result<Document?, StatusError>]

    private struct State {
        /// How many requests are under way.
        var requestCount = 0
        var waiting: [PendingRead] = []
    }

    private let maximumRequests: Int
    private let state = Mutex(State())

    /// How many reads go in one request.
    private static let maximumReads = 100

    /// - Parameter maximumRequests: How many requests may be under way before reads wait.
    init(maximumRequests: Int) {
        self.maximumRequests = maximumRequests
    }

    /// Reads a document; nil when it doesn't exist.
    func document(at path: DocumentPath, _ request: @escaping Request) async throws(StatusError) -> Document? {
        let pending: PendingRead? = state.withLock { state in
            guard state.requestCount >= maximumRequests else {
                state.requestCount += 1
                return nil
            }
            let pending = PendingRead(of: path)
            state.waiting.append(pending)
            return pending
        }
        if let pending { return try await pending.value().get() }
        defer { endRequest(request) }
        let results = await request([path])
        return try results.first?.get() ?? nil
    }

    /// Sends what waits, where there is something.
    private func endRequest(_ request: @escaping Request) {
        let next: [PendingRead] = state.withLock { state in
            state.waiting.removeAll(where: \.isOver)
            let next = Array(state.waiting.prefix(Self.maximumReads))
            state.waiting.removeFirst(next.count)
            if next.isEmpty { state.requestCount -= 1 }
            return next
        }
        guard !next.isEmpty else { return }
        // The task belongs to all of those who wait: who has made room, or one of them, may be cancelled.
        Task {
            let results = await request(next.map(\.path))
            for (pending, result) in zip(next, results) { pending.end(with: result) }
            self.endRequest(request)
        }
    }
}

/// A read that waits for its request, and then for the answer.
private final class PendingRead: Sendable {
    private enum State {
        case begun
        case awaited(CheckedContinuation<Result<Document?, StatusError>, Never>)
        case over(Result<Document?, StatusError>)
    }

    let path: DocumentPath
    private let state = Mutex(State.begun)

    init(of path: DocumentPath) {
        self.path = path
    }

    var isOver: Bool {
        state.withLock { if case .over = $0 { true } else { false } }
    }

    /// What came of it. To be asked once.
    func value() async -> Result<Document?, StatusError> {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Result<Document?, StatusError>? = state.withLock { state in
                    if case .over(let result) = state { return result }
                    state = .awaited(continuation)
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            end(with: .failure(StatusError(.cancelled, "The call was cancelled.")))
        }
    }

    /// Ends the read; only the first end counts.
    func end(with result: Result<Document?, StatusError>) {
        let continuation: CheckedContinuation<Result<Document?, StatusError>, Never>? = state.withLock { state in
            switch state {
            case .over: return nil
            case .begun:
                state = .over(result)
                return nil
            case .awaited(let continuation):
                state = .over(result)
                return continuation
            }
        }
        continuation?.resume(returning: result)
    }
}
