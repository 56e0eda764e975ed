import DocumentModel
import HearthAPI
import UTF8Text

/// The limits on the rate of calls, per client address and per key or end user. None apply by default.
///
/// A call, a Firestore call and the opening of a stream count as one each, a JSON-RPC batch as its calls. The messages of an open stream
/// of Firestore's clients count too, and are delayed rather than refused. Pages, static files, health checks and metrics are free.
/// Programs on this machine are limited by their keys only.
package final class CallRateLimiter: Sendable {
    /// The rates, each `nil` for no limit.
    struct Rates: Sendable {
        var perAddress: TokenBuckets.Rate?
        var perKey: TokenBuckets.Rate?
    }

    let addresses: TokenBuckets
    let keys: TokenBuckets

    init(_ rates: Rates) {
        addresses = TokenBuckets(rates.perAddress)
        keys = TokenBuckets(rates.perKey)
    }

    /// Replaces the rates of a running server.
    func set(_ rates: Rates) {
        addresses.set(rates.perAddress)
        keys.set(rates.perKey)
    }

    /// Counts a call of a client address, before anything is done for it.
    ///
    /// - Throws: ``HTTPFailure``: 429 with the time after which to retry.
    package func admitClient(of context: HearthRequestContext) throws(HTTPFailure) {
        guard !addresses.isOff, let address = context.limitedNetwork, let wait = addresses.consume(for: address) else { return }
        throw Self.rateExceeded(for: address, wait)
    }

    /// Counts a call of the authenticated caller.
    ///
    /// - Throws: ``HTTPFailure``: 429 with the time after which to retry.
    package func admitCaller(of context: HearthRequestContext) throws(HTTPFailure) {
        guard !keys.isOff, let key = context.caller.quotaKey, let wait = keys.consume(for: key) else { return }
        throw Self.rateExceeded(for: context.caller, wait)
    }

    /// Counts the calls of a batch after the first one, for which the request has been admitted.
    ///
    /// - Throws: ``HTTPFailure``: 429 if an earlier batch has consumed more than there was.
    func admitBatch(of count: Int, in context: HearthRequestContext) throws(HTTPFailure) {
        guard count > 1 else { return }
        if !addresses.isOff, let address = context.limitedNetwork, let wait = addresses.overdraw(by: count - 1, for: address) {
            throw Self.rateExceeded(for: address, wait)
        }
        if !keys.isOff, let key = context.caller.quotaKey, let wait = keys.overdraw(by: count - 1, for: key) {
            throw Self.rateExceeded(for: context.caller, wait)
        }
    }

    /// Counts a message of an open stream, whose opening has been admitted.
    ///
    /// - Returns: The time after which to process it.
    package func delayOfMessage(in context: HearthRequestContext) -> Duration {
        var delay = Duration.zero
        if !addresses.isOff, let address = context.limitedNetwork { delay = addresses.reserve(for: address) }
        if !keys.isOff, let key = context.caller.quotaKey { delay = max(delay, keys.reserve(for: key)) }
        return delay
    }

    private static func rateExceeded(for address: UTF8Key, _ wait: Duration) -> HTTPFailure {
        .rateExceeded(
            "Your address \(address.string) sends more calls per second than the server allows for one address. "
                + "Send them more slowly, or ask the operator to raise --call-rate-per-address.",
            wait
        )
    }

    private static func rateExceeded(for caller: Caller, _ wait: Duration) -> HTTPFailure {
        .rateExceeded(
            caller.isEndUser
                ? "You send more calls per second than the server allows for one user. Send them more slowly."
                : "The key is used for more calls per second than the server allows for one key. Send them more slowly, use separate "
                    + "keys for different programs, or ask the operator to raise --call-rate-per-key.",
            wait
        )
    }
}

extension CallRateLimiter.Rates {
    init(_ configuration: HTTPServerConfiguration) {
        self.init(
            perAddress: Self.rate(configuration.callRatePerAddress, burst: configuration.callBurstPerAddress),
            perKey: Self.rate(configuration.callRatePerKey, burst: configuration.callBurstPerKey)
        )
    }

    private static func rate(_ callsPerSecond: Int, burst: Int?) -> TokenBuckets.Rate? {
        guard callsPerSecond > 0 else { return nil }
        let callsPerSecond = min(callsPerSecond, TokenBuckets.Rate.maximum)
        let burst = min(burst ?? 10 * callsPerSecond, TokenBuckets.Rate.maximum)
        return TokenBuckets.Rate(callsPerSecond: callsPerSecond, burst: burst)
    }
}

extension HearthRequestContext {
    /// The network whose calls are counted; `nil` for a program on this machine.
    fileprivate var limitedNetwork: UTF8Key? {
        guard let client, !client.isLoopback else { return nil }
        return client.network
    }
}

extension HTTPFailure {
    /// Returns the failure for a client that sends too many calls. Its delay is at least a second, and up to a fifth longer than needed,
    /// so that clients which were refused together don't come back together.
    fileprivate static func rateExceeded(_ message: String, _ wait: Duration) -> HTTPFailure {
        var error = StatusError(.resourceExhausted, message)
        error.retryAfter = max(wait, .seconds(1)) * Double.random(in: 1...1.2)
        error.isExecuted = false
        return HTTPFailure(error.rpcError)
    }
}
