internal import DocumentModel
internal import Foundation
internal import Synchronization

/// The ID token of a connection, requested from its provider and kept until it expires or the server refuses it.
///
/// At most one request is pending: concurrent calls wait for it together. It continues when the calls are cancelled or time out,
/// since later ones need the token, too.
package final class IDTokenCache: Sendable {
    private let provider: any IDTokenProvider
    private let maximumRequestDuration: Duration
    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    private struct State {
        var token: IDToken?
        var tokenCount = 0
        /// True if the last token has expired or was refused.
        var requiresNewToken = false
        var request: TokenRequest?
        var user = User(number: 0)
        /// True once the provider has been asked: from then on, calls are made for the user at their time.
        var wasAsked = false
        /// Occurs when the user changes.
        var userChange = OneTimeEvent()
        var isClosed = false
    }

    /// The user of a connection, for calls that must not be made for another one.
    package struct User: Hashable, Sendable {
        fileprivate var number: Int
    }

    /// - Parameters:
    ///   - maximumRequestDuration: The time after which a request is assumed to never complete, and is replaced by the next call.
    ///   - now: The clock, to which expiration times are compared.
    init(
        _ provider: any IDTokenProvider,
        maximumRequestDuration: Duration = .seconds(60),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.provider = provider
        self.maximumRequestDuration = maximumRequestDuration
        self.now = now
    }

    /// The current user.
    ///
    /// Before the provider has been asked, the user is unknown, and the next ``credentialDidChange()`` establishes it.
    var user: User { state.withLock(\.user) }

    /// Returns the current user, and from then on tells users apart, also before the provider has been asked.
    func establishUser() -> User {
        state.withLock { state in
            state.wasAsked = true
            return state.user
        }
    }

    /// The next change of the user.
    var userChange: OneTimeEvent { state.withLock(\.userChange) }

    /// Returns the current token.
    ///
    /// - Parameter user: The user for whom the call is made; `nil` if it can be made for any user.
    /// - Throws: `.unauthenticated` if the provider fails; `.deadlineExceeded` if it doesn't return in time; `.cancelled` if the
    ///   task is cancelled or the user has changed.
    func token(for user: User? = nil, until deadline: ContinuousClock.Instant) async throws(StatusError) -> IDToken {
        while true {
            guard !Task.isCancelled else { throw StatusError(.cancelled, "The call was cancelled.") }
            let request: TokenRequest
            switch try nextStep(for: user) {
            case .use(let token): return token
            case .wait(let pending): request = pending
            }
            await request.completion.wait(for: ContinuousClock.now.duration(to: deadline))
            if let failure = request.failure { throw failure }
            guard request.completion.hasOccurred || Task.isCancelled || deadline > .now else {
                throw StatusError(.deadlineExceeded, "The provider of ID tokens did not return one in time.")
            }
        }
    }

    private enum Step {
        case use(IDToken)
        case wait(TokenRequest)
    }

    private func nextStep(for user: User?) throws(StatusError) -> Step {
        try state.withLock { state throws(StatusError) in
            guard !state.isClosed else { throw StatusError(.cancelled, "The connection has been closed.") }
            guard user == nil || user == state.user else {
                throw StatusError(.cancelled, "The call was cancelled, since the user has changed.")
            }
            let time = now()
            guard let token = state.token, !token.isExpired(at: time) else {
                state.requiresNewToken = state.requiresNewToken || state.token != nil
                state.token = nil
                return .wait(request(in: &state))
            }
            // The token is still valid, so that no call has to wait for the next one.
            if token.requiresRefresh(at: time) { _ = request(in: &state, forcingRefresh: true) }
            return .use(token)
        }
    }

    /// Returns the pending request, or starts one.
    private func request(in state: inout State, forcingRefresh: Bool = false) -> TokenRequest {
        if let pending = state.request {
            guard pending.startTime.duration(to: .now) >= maximumRequestDuration else { return pending }
            pending.abandon()
        }
        let request = TokenRequest()
        state.request = request
        state.wasAsked = true
        request.start { [provider, forcingRefresh = forcingRefresh || state.requiresNewToken] in
            let result = await Self.requestToken(from: provider, forcingRefresh: forcingRefresh)
            self.complete(request, with: result)
        }
        return request
    }

    private static func requestToken(
        from provider: any IDTokenProvider,
        forcingRefresh: Bool
    ) async -> Result<BearerToken?, StatusError> {
        do {
            guard let text = try await provider.idToken(forcingRefresh: forcingRefresh) else { return .success(nil) }
            guard let bearer = BearerToken(text) else {
                return .failure(
                    StatusError(.unauthenticated, "The ID token is invalid: expected printable ASCII characters without spaces.")
                )
            }
            return .success(bearer)
        } catch {
            return .failure(
                StatusError(
                    .unauthenticated,
                    "No ID token is available: its provider has thrown an error of type \(type(of: error)).",
                    cause: TokenProviderFailure(underlying: error)
                )
            )
        }
    }

    private func complete(_ request: TokenRequest, with result: Result<BearerToken?, StatusError>) {
        state.withLock { state in
            // The result of an abandoned request may belong to the previous user.
            guard state.request === request else { return }
            state.request = nil
            switch result {
            case .success(let bearer):
                state.tokenCount += 1
                state.token = IDToken(bearer, number: state.tokenCount, userChange: state.userChange, now: now())
                state.requiresNewToken = false
            case .failure(let error):
                state.token?.refreshFailed()
                request.fail(error)
            }
        }
        request.completion.signal()
    }

    /// Discards a token that the server has refused, unless it has been replaced already.
    func refuse(_ token: IDToken) {
        state.withLock { state in
            guard state.token?.number == token.number else { return }
            state.token = nil
            state.requiresNewToken = true
        }
    }

    /// Discards the token, since it belongs to another user than the current one.
    func credentialDidChange() {
        discardUser { state in
            if state.wasAsked { state.user.number += 1 }
        }
    }

    /// Fails all pending and later calls.
    func close() {
        discardUser { $0.isClosed = true }
    }

    private func discardUser(_ change: (inout State) -> Void) {
        let (userChange, request) = state.withLock { state in
            change(&state)
            state.token = nil
            state.requiresNewToken = false
            defer {
                state.userChange = OneTimeEvent()
                state.request = nil
            }
            return (state.userChange, state.request)
        }
        request?.abandon()
        userChange.signal()
    }
}

/// A request for an ID token.
private final class TokenRequest: Sendable {
    let startTime = ContinuousClock.now
    /// Occurs when the request has completed, or was abandoned so that another one is necessary.
    let completion = OneTimeEvent()
    private let state = Mutex(State())

    private struct State {
        var task: Task<Void, Never>?
        var failure: StatusError?
    }

    /// The error of the provider.
    var failure: StatusError? { state.withLock(\.failure) }

    func fail(_ error: StatusError) {
        state.withLock { $0.failure = error }
    }

    /// Starts the request in an unstructured task, since the calls that wait for it may be cancelled.
    func start(_ operation: @escaping @Sendable () async -> Void) {
        state.withLock { $0.task = Task { await operation() } }
    }

    /// Cancels the provider and lets the calls continue without its result.
    func abandon() {
        state.withLock(\.task)?.cancel()
        completion.signal()
    }
}
