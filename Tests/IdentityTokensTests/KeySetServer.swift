import Synchronization
import TestSupport

@testable import IdentityTokens

/// A server of key sets, with a clock that tests set.
final class KeySetServer: Sendable {
    private struct State {
        var body: String?
        var maxAge: Duration?
        var fetchCount = 0
        var isHanging = false
        var now = ContinuousClock.now
        var events: [KeySetEvent] = []
    }

    private struct Failure: Error {}

    private let state: Mutex<State>

    init(_ keys: [String], maxAge: Duration? = .seconds(3_600)) {
        state = Mutex(State(body: TokenFixtures.set(keys), maxAge: maxAge))
    }

    /// The number of fetches.
    var fetchCount: Int { state.withLock(\.fetchCount) }

    /// The reported events.
    var events: [KeySetEvent] { state.withLock(\.events) }

    /// Makes the following fetches return a set, or fail.
    func serve(_ keys: [String]?, maxAge: Duration? = .seconds(3_600)) {
        state.withLock { ($0.body, $0.maxAge) = (keys.map(TokenFixtures.set), maxAge) }
    }

    /// Makes the following fetches return a text.
    func serve(text: String) {
        state.withLock { $0.body = text }
    }

    /// Makes the following fetches end only when they are cancelled.
    func hang() {
        state.withLock { $0.isHanging = true }
    }

    /// Advances the clock.
    func advance(by duration: Duration) {
        state.withLock { $0.now += duration }
    }

    /// Creates a cache of this server's sets.
    ///
    /// - Parameter timeLimitPasses: True if the time limit of each fetch has passed at once.
    func makeCache(timeLimitPasses: Bool = false) -> KeySetCache {
        KeySetCache(
            fetch: { [self] _ in
                let (body, maxAge, isHanging) = state.withLock { state in
                    state.fetchCount += 1
                    return (state.body, state.maxAge, state.isHanging)
                }
                if isHanging { await untilCancelled() }
                guard let body else { throw Failure() }
                return FetchedKeySet(bytes: Array(body.utf8), maxAge: maxAge)
            },
            report: { [self] event in state.withLock { $0.events.append(event) } },
            now: { [self] in state.withLock(\.now) },
            sleep: { _ in
                if !timeLimitPasses { await untilCancelled() }
                try Task.checkCancellation()
            }
        )
    }
}
