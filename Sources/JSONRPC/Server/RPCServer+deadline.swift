extension RPCServer {
    /// Runs a call, cancels it when its time is up, and waits for its end in any case.
    ///
    /// What a late call has done is told as it is: only when it gave up because it was cancelled is the answer
    /// ``RPCErrorCode/deadlineExceeded``.
    func withDeadline<Value: Sendable>(_ call: @escaping @Sendable () async throws -> Value) async throws -> Value {
        var outcome: Result<Value, any Error> = .failure(CancellationError())
        var isLate = false
        await withTaskGroup(of: Event<Value>.self) { group in
            group.addTask {
                do {
                    return .finished(.success(try await call()))
                } catch {
                    return .finished(.failure(error))
                }
            }
            group.addTask { await waitForTimeout() ? .timeIsUp : .timerCancelled }
            var isRunning = true
            for await event in group {
                switch event {
                case .finished(let result):
                    outcome = result
                    isRunning = false
                case .timeIsUp:
                    isLate = isRunning
                case .timerCancelled:
                    break
                }
                group.cancelAll()
            }
        }
        if isLate, case .failure(let error) = outcome, Self.isCancellation(error) {
            throw RPCError.deadlineExceeded(limits.callTimeout)
        }
        return try outcome.get()
    }

    /// Whether the whole time passed, rather than the task being cancelled.
    private func waitForTimeout() async -> Bool {
        // A cancelled sleep keeps about half a kilobyte until the time it was to end. In short sleeps, what many quick calls
        // leave behind stays small.
        let longestSleep = Duration.seconds(1)
        var remaining = limits.callTimeout
        while remaining > .zero {
            do {
                try await clock.sleep(for: min(remaining, longestSleep))
            } catch {
                return false
            }
            remaining -= longestSleep
        }
        return true
    }

    private static func isCancellation(_ error: any Error) -> Bool {
        error is CancellationError || (error as? any RPCErrorConvertible)?.rpcError.code == .cancelled
    }
}

/// What happens first: the call's end, or the end of its time.
private enum Event<Value: Sendable>: Sendable {
    case finished(Result<Value, any Error>)
    case timeIsUp
    case timerCancelled
}
