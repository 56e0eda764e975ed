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
    /// When its ID token expires, or the user changes, the next stream is opened with a new token immediately. Returns when the
    /// task is cancelled or `isActive` returns `false`.
    ///
    /// - Throws: Errors of `receive`, and permanent errors of the server, also `.unauthenticated` if it refuses a new ID token.
    package func watchContinuously(
        _ target: WatchTarget,
        while isActive: () -> Bool = { true },
        _ receive: (WatchEvent) throws(StatusError) -> Void
    ) async throws(StatusError) {
        var token: String?
        var backoff = ExponentialBackoff()
        var refusal = TokenRefusal()
        while !Task.isCancelled, isActive() {
            let userChange = userChange
            var interruption: StatusError?
            var hasOpened = false
            var isFinal = false
            func send(_ event: WatchEvent) throws(StatusError) {
                // An error of the receiver is permanent.
                isFinal = true
                try receive(event)
                isFinal = false
            }
            do throws(StatusError) {
                let frames = try await watch(target, resume: token)
                hasOpened = true
                refusal.streamOpened()
                try send(.connected(isResumed: token != nil))
                for try await frame in frames {
                    if Task.isCancelled { return }
                    if ![.open, .end, .error].contains(frame.kind) {
                        backoff.reset()
                        refusal.streamProgressed()
                    }
                    if frame.kind == .reset { token = nil }
                    token = frame.token ?? token
                    try send(.frame(frame))
                    if let idToken = frames.idToken, frame.isTokenRefusal {
                        refuse(idToken)
                        guard !refusal.isRepeatedRefusal() else { throw frame.error ?? .tokenRefused }
                        if !refusal.isImmediate { backoff.reset() }
                    } else if let error = frame.error {
                        // A target that is too large for one stream is too large for the next one.
                        isFinal = error.code == .resourceExhausted
                        throw error
                    }
                }
            } catch {
                if Task.isCancelled || !isActive() { return }
                // An error that was meant for the previous user doesn't concern the current one.
                let mayPass = error.isTransient || error.isOfDeletedDatabase(hasOpened) || userChange?.hasOccurred == true
                guard mayPass, !isFinal else { throw error }
                interruption = error
            }
            try send(.interrupted(interruption))
            let delay = backoff.nextDelay(atLeast: interruption?.retryAfter)
            // The loop condition checks for cancellation.
            guard let userChange else {
                try? await Task.sleep(for: delay)
                continue
            }
            await userChange.wait(for: delay)
            if userChange.hasOccurred {
                backoff.reset()
                refusal = TokenRefusal()
            }
        }
    }
}

/// The detection of streams that end for their ID tokens as soon as they are opened.
package struct TokenRefusal {
    private var openTime = ContinuousClock.now
    private var hasProgressed = false
    private var count = 0

    /// The minimum duration of a stream whose token was accepted.
    private static let minimumDuration = Duration.seconds(1)

    /// True if the stream ended before any progress.
    package private(set) var isImmediate = false

    package init() {}

    package mutating func streamOpened() {
        openTime = .now
        hasProgressed = false
    }

    package mutating func streamProgressed() {
        hasProgressed = true
    }

    /// Handles the end of the stream for its token. Returns whether that of the previous stream was refused as well.
    package mutating func isRepeatedRefusal() -> Bool {
        isImmediate = !hasProgressed && openTime.duration(to: .now) < Self.minimumDuration
        count = isImmediate ? count + 1 : 0
        return count > 1
    }
}

extension WatchFrame {
    /// True if the server ends the stream because the ID token has expired.
    package var isTokenRefusal: Bool {
        endReason == .unauthenticated || error?.code == .unauthenticated
    }
}

extension StatusError {
    /// The error of a stream for which the server accepts no ID token.
    package static var tokenRefused: StatusError {
        StatusError(.unauthenticated, "The server refuses the ID token, also after it was refreshed.")
    }
}
