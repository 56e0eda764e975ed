package import DocumentModel

/// What happens to a target that is followed over any number of streams.
package enum WatchEvent: Sendable {
    /// A stream begins. One that is resumed goes on after the last token, another one begins with the whole state.
    case connected(isResumed: Bool)
    /// The next frame.
    case frame(WatchFrame)
    /// The stream is over, with an error or by an `end` frame; another one follows after a while.
    case interrupted(StatusError?)
}

extension HearthConnection {
    /// Follows a target over as many streams as it takes, each of which goes on where the one before broke off.
    ///
    /// It returns when its task is cancelled or the condition is no longer met.
    ///
    /// - Throws: What `receive` throws, and what keeps the target from being followed for good.
    package func follow(
        _ target: WatchTarget,
        while isWanted: () -> Bool = { true },
        _ receive: (WatchEvent) throws(StatusError) -> Void
    ) async throws(StatusError) {
        var token: String?
        var delay = RetryDelay()
        while !Task.isCancelled, isWanted() {
            var interruption: StatusError?
            var isFinal = false
            func tell(_ event: WatchEvent) throws(StatusError) {
                // What the receiver can't take it can't take again.
                isFinal = true
                try receive(event)
                isFinal = false
            }
            do throws(StatusError) {
                let frames = try await watch(target, resume: token)
                try tell(.connected(isResumed: token != nil))
                for try await frame in frames {
                    if Task.isCancelled { return }
                    if ![.open, .end, .error].contains(frame.kind) { delay.reset() }
                    if frame.kind == .reset { token = nil }
                    token = frame.token ?? token
                    try tell(.frame(frame))
                    if let error = frame.error {
                        // What is too large for one stream is too large for the next one.
                        isFinal = error.code == .resourceExhausted
                        throw error
                    }
                }
            } catch {
                if Task.isCancelled || !isWanted() { return }
                guard error.isTransient, !isFinal else { throw error }
                interruption = error
            }
            try tell(.interrupted(interruption))
            // An interrupted sleep is noticed by the loop.
            try? await Task.sleep(for: delay.take())
        }
    }
}
