package import Concurrency
package import DocumentModel
import Synchronization

/// The requests that the client of a stream has sent and the stream has not processed yet, and the end of the stream.
///
/// Requests are added by the transport and taken by the task of the stream. That task may wait for other events as well
/// (``setWaiter(_:)``).
package final class StreamInbox<Request: Sendable>: Sendable {
    private enum Ending {
        /// The client will send no more requests.
        case finished
        /// The stream ends with an error, whatever has not been taken.
        case failed(StatusError)
    }

    private struct State {
        var requests: ArraySlice<Request> = []
        var ending: Ending?
        /// The wait of the stream's task for the next change.
        var waiter: Waiter?
        /// The transport's wait until the requests have been taken.
        var emptyWaiter: Waiter?

        mutating func takeEmptyWaiter() -> Waiter? {
            defer { emptyWaiter = nil }
            return emptyWaiter
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// The result of ``take()``.
    package enum Item {
        case request(Request)
        /// Nothing yet.
        case nothing
        /// The client will send no more requests, and all of them have been taken.
        case end
    }

    // MARK: - Transport

    /// Adds a request. It is discarded if the stream has ended.
    package func add(_ request: Request) {
        update { state in
            guard state.ending == nil else { return }
            state.requests.append(request)
        }
    }

    /// Waits until all requests have been taken or the stream has ended, so that a client cannot send faster than its requests
    /// are processed.
    package nonisolated(nonsending) func waitUntilEmpty() async {
        let waiter = state.withLock { state -> Waiter? in
            guard !state.requests.isEmpty, state.ending == nil else { return nil }
            let waiter = Waiter()
            state.emptyWaiter = waiter
            return waiter
        }
        await waiter?.wait()
    }

    /// Waits for a time, or until the stream has ended.
    package nonisolated(nonsending) func wait(for delay: Duration) async throws {
        let end = ContinuousClock.now + delay
        while delay > .zero, failure == nil {
            let rest = ContinuousClock.now.duration(to: end)
            guard rest > .zero else { return }
            try await Task.sleep(for: min(rest, .milliseconds(250)))
        }
    }

    /// Records that the client will send no more requests.
    package func finish() {
        update { state in
            if state.ending == nil { state.ending = .finished }
        }
    }

    /// Ends the stream with an error. Only the first one counts.
    package func fail(_ error: StatusError) {
        update { state in
            if case .failed = state.ending { return }
            state.ending = .failed(error)
            state.requests = []
        }
    }

    private func update(_ change: (inout State) -> Void) {
        let waiters = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            return [state.waiter, state.ending == nil ? nil : state.takeEmptyWaiter()]
        }
        for waiter in waiters { waiter?.resume() }
    }

    // MARK: - Stream

    /// The error with which the stream ends, if any.
    package var failure: StatusError? {
        state.withLock { state in
            if case .failed(let error) = state.ending { error } else { nil }
        }
    }

    /// Takes the next request.
    ///
    /// - Throws: The error with which the stream ends.
    package func take() throws(StatusError) -> Item {
        let (result, waiter) = state.withLock { state -> (Result<Item, StatusError>, Waiter?) in
            if case .failed(let error) = state.ending { return (.failure(error), nil) }
            guard let request = state.requests.popFirst() else {
                return (.success(state.ending == nil ? .nothing : .end), nil)
            }
            guard state.requests.isEmpty else { return (.success(.request(request)), nil) }
            // A slice retains the elements that were removed from it.
            state.requests = []
            return (.success(.request(request)), state.takeEmptyWaiter())
        }
        waiter?.resume()
        return try result.get()
    }

    /// Returns the next request as soon as there is one; `nil` if the client will send no more.
    ///
    /// - Throws: The error with which the stream ends; ``StatusCode/cancelled`` if the task is cancelled.
    package nonisolated(nonsending) func next() async throws(StatusError) -> Request? {
        while true {
            switch try take() {
            case .request(let request): return request
            case .end: return nil
            case .nothing: break
            }
            let waiter = Waiter()
            setWaiter(waiter)
            guard await waiter.wait() else { throw StatusError(.cancelled, "The stream was cancelled.") }
        }
    }

    /// Resumes a waiter at the next change: at once, if ``take()`` would find something.
    package func setWaiter(_ waiter: Waiter) {
        let isReady = state.withLock { state in
            guard state.requests.isEmpty, state.ending == nil else { return true }
            state.waiter = waiter
            return false
        }
        if isReady { waiter.resume() }
    }
}
