package import DocumentModel
package import HearthWire

/// An event that occurs while a target is watched across reconnects.
package enum WatchEvent: Sendable {
    /// A stream was opened. It resumes after the last token, or starts with the complete state.
    case connected(isResumed: Bool)
    /// The next frame.
    case frame(WatchFrame)
    /// The stream ended, with an error or an `end` frame. It is reopened after a delay.
    case interrupted(StatusError?)
}

extension HearthConnection {
    /// Watches a target across reconnects. Each stream resumes where the previous one was interrupted.
    ///
    /// Returns when the task is cancelled or `isActive` returns `false`.
    ///
    /// - Throws: Errors of `receive`, and permanent errors of the server.
    package func watchContinuously(
        _ target: WatchTarget,
        while isActive: () -> Bool = { true },
        _ receive: (WatchEvent) throws(StatusError) -> Void
    ) async throws(StatusError) {
        var token: String?
        var backoff = ExponentialBackoff()
        while !Task.isCancelled, isActive() {
            var interruption: StatusError?
            var isFinal = false
            func send(_ event: WatchEvent) throws(StatusError) {
                // An error of the receiver is permanent.
                isFinal = true
                try receive(event)
                isFinal = false
            }
            do throws(StatusError) {
                let frames = try await watch(target, resume: token)
                try send(.connected(isResumed: token != nil))
                for try await frame in frames {
                    if Task.isCancelled { return }
                    if ![.open, .end, .error].contains(frame.kind) { backoff.reset() }
                    if frame.kind == .reset { token = nil }
                    token = frame.token ?? token
                    try send(.frame(frame))
                    if let error = frame.error {
                        // A target that is too large for one stream is too large for the next one.
                        isFinal = error.code == .resourceExhausted
                        throw error
                    }
                }
            } catch {
                if Task.isCancelled || !isActive() { return }
                guard error.isTransient, !isFinal else { throw error }
                interruption = error
            }
            try send(.interrupted(interruption))
            // The loop condition checks for cancellation.
            try? await Task.sleep(for: backoff.nextDelay())
        }
    }
}
