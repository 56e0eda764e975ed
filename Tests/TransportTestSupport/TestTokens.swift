package import Foundation
import HearthTransport
import Synchronization

/// A provider of the tokens `t1`, `t2` and so on, which records how it is asked.
package final class TestTokenProvider: IDTokenProvider {
    private struct State {
        var requests: [Bool] = []
        var isHeld = false
        var held: [CheckedContinuation<Void, Never>] = []
        var failure: (any Error)?
        var isSignedOut = false
        var makeToken: @Sendable (Int) -> String = { "t\($0)" }
    }

    private let state = Mutex(State())

    package init() {}

    /// The requests so far: whether each forces a refresh.
    package var requests: [Bool] { state.withLock(\.requests) }

    package func idToken(forcingRefresh: Bool) async throws -> String? {
        let number = state.withLock { state in
            state.requests.append(forcingRefresh)
            return state.requests.count
        }
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                if state.isHeld { state.held.append(continuation) }
                return state.isHeld
            }
            if !isHeld { continuation.resume() }
        }
        return try state.withLock { state in
            if let failure = state.failure { throw failure }
            return state.isSignedOut ? nil : state.makeToken(number)
        }
    }

    /// Lets requests wait until ``release()``.
    package func hold() {
        state.withLock { $0.isHeld = true }
    }

    /// Answers all requests.
    package func release() {
        let held = state.withLock { state in
            state.isHeld = false
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    package func fail(with error: (any Error)?) {
        state.withLock { $0.failure = error }
    }

    package func signOut() {
        state.withLock { $0.isSignedOut = true }
    }

    package func makeTokens(_ makeToken: @escaping @Sendable (Int) -> String) {
        state.withLock { $0.makeToken = makeToken }
    }

    /// Waits until there have been `count` requests.
    package func waitForRequests(_ count: Int) async throws {
        while requests.count < count { try await Task.sleep(for: .milliseconds(1)) }
    }
}

/// A wall clock that is set by tests.
package final class TestWallClock: Sendable {
    private let time = Mutex(Date(timeIntervalSince1970: 1_000_000))

    package init() {}

    package var now: Date { time.withLock(\.self) }

    package func advance(by seconds: TimeInterval) {
        time.withLock { $0 += seconds }
    }
}

/// Returns an unsigned JSON Web Token with a payload.
package func unsignedToken(_ payload: String) -> String {
    [#"{"alg":"none","type":"JWT"}"#, payload, ""].map { part in
        Data(part.utf8).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
    .joined(separator: ".")
}
