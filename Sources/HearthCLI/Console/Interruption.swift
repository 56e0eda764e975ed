import UnixSignals

/// The process was told to stop, by SIGINT or SIGTERM.
struct Interruption: Error, CustomStringConvertible {
    let description = "Interrupted."

    /// Runs `body` and cancels it when the process is told to stop.
    ///
    /// - Throws: What `body` throws, or an interruption once the cancelled `body` has returned.
    static func cancelling(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask {
                for await _ in signals { throw Interruption() }
            }
            try await group.next()
            group.cancelAll()
        }
    }
}
