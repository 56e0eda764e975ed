import Synchronization

/// The requests that a server accepts: for which hosts, from pages of which origins, and through which proxies. Can be replaced
/// while the server runs: a request is checked by one policy from beginning to end.
final class RequestPolicy: Sendable {
    let hostCheck: HostCheck
    let originCheck: OriginCheck
    let proxies: TrustedProxies

    /// Creates the policy of a configuration.
    ///
    /// - Parameter allowsLoopbackOrigins: True to accept pages of this machine, whatever their port.
    init(_ configuration: HTTPServerConfiguration, allowsLoopbackOrigins: Bool) {
        hostCheck = HostCheck(
            listeningOn: configuration.host,
            allowedHosts: configuration.allowedHosts,
            allowsOwnAddress: configuration.isWildcard
        )
        originCheck = OriginCheck(
            corsPolicy: CORSPolicy(configuration.allowedOrigins, allowsLoopback: allowsLoopbackOrigins)
        )
        proxies = TrustedProxies(configuration.trustedProxies)
    }

    /// The policy of a running server.
    final class Current: Sendable {
        private let policy: Mutex<RequestPolicy>

        init(_ policy: RequestPolicy) {
            self.policy = Mutex(policy)
        }

        var value: RequestPolicy {
            get { policy.withLock { $0 } }
            set { policy.withLock { $0 = newValue } }
        }
    }
}
