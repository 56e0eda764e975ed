import UnixSignals

/// The error thrown when the process receives SIGINT or SIGTERM.
struct TerminationSignal: Error, CustomStringConvertible {
    let description = "Interrupted."

    /// Runs `body` and cancels it when the process receives SIGINT or SIGTERM.
    ///
    /// - Throws: The error of `body`, or a ``TerminationSignal`` after the cancelled `body` has returned.
    static func cancelOnReceipt(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask {
                for await _ in signals { throw TerminationSignal() }
            }
            try await group.next()
            group.cancelAll()
        }
    }
}
