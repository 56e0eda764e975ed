package import DocumentModel
internal import Glibc
package import Logging
internal import NIOCore
package import SpanRecording
internal import UTF8Text

/// The configuration of an ``HTTPServer``. The defaults suit clients on the same machine.
package struct HTTPServerConfiguration: Sendable {
    /// The address to listen on. For `127.0.0.1` or `localhost`, the server listens on `::1`, too, because many clients try that
    /// first for localhost. Without keys, only a loopback address is allowed.
    package var host = "127.0.0.1"
    /// The port to listen on; 0 lets the system choose one.
    package var port = 8080
    /// The certificate with which clients are served by TLS; `nil` to serve them without.
    package var certificate: ServerCertificate?
    /// The accepted `Host` names in addition to ``host``, `localhost`, `127.0.0.1` and `[::1]`, such as the name that a reverse
    /// proxy passes on. Without ports: any port is accepted.
    package var allowedHosts: [String] = []
    /// The cross-origin allow list, such as `https://app.example.org`.
    package var allowedOrigins: [String] = []
    /// The proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` headers are trusted. From other peers the headers are ignored.
    package var trustedProxies: [CIDRBlock] = []
    /// The maximum number of open connections. At the limit, the connection that has been idle longest makes room for a new one;
    /// when none is idle, the new one is answered with 503 and closed. When `nil`, derived from the limit on open files; see
    /// ``OpenFileLimit/connections``.
    package var maximumConnections: Int?
    /// The maximum number of connections per client address, with the same rule. Loopback, where a proxy may run, and ``trustedProxies`` are exempt.
    package var maximumConnectionsPerAddress = 512
    /// The maximum number of HTTP/2 requests in progress, over all connections. Further ones are refused, so that clients send them
    /// again.
    package var maximumStreams = 10_000
    /// The time limit for receiving a request head, from its first byte.
    package var headTimeout: Duration = .seconds(10)
    /// The time limit for receiving a request body, in addition to the time that the received bytes take at ``minimumBodyRate``.
    package var bodyTimeout: Duration = .seconds(10)
    /// The minimum average rate of a request body, in bytes per second.
    package var minimumBodyRate = 1_024
    /// The memory limit for the request bodies of all requests, in bytes.
    package var maximumBufferedBodyBytes = 64 << 20
    /// The memory limit for the responses to all clients, in bytes: those not yet passed to their connection, and the expected
    /// responses of calls in progress. In addition, each connection buffers at most about 100 KiB that its client has not read.
    package var maximumBufferedResponseBytes = 256 << 20
    /// The time for which a call waits for memory within ``maximumBufferedResponseBytes`` before it is rejected.
    package var responseMemoryTimeout: Duration = .seconds(2)
    /// The number of bodies over 1 MiB that are processed concurrently; others wait.
    package var maximumConcurrentLargeBodies = 2
    /// The time after which an idle connection, or a request without progress, is closed.
    package var idleTimeout: Duration = .seconds(75)
    /// The time after which a connection whose client does not read the response is closed, and after which a watch stream ends.
    package var stallTimeout: Duration = .seconds(30)
    /// The time that the client of a stream that ended because it did not read has for reading the rest, before it is
    /// disconnected.
    package var stallGrace: Duration = .seconds(60)
    /// The duration of a lingering close, during which the remainder of a request is discarded so that the client receives the
    /// response.
    package var lingerTimeout: Duration = .seconds(3)
    /// The maximum number of bytes discarded in a lingering close. A client that sends more is disconnected with a reset.
    package var maximumDiscardedBytes = 16 << 20
    /// The time for which a client that does not read can delay shutdown.
    package var shutdownGrace: Duration = .seconds(2)
    /// The maximum number of open watch streams.
    package var maximumWatchers = 2_000
    /// The maximum number of watch streams per client address: official server SDKs open one for each listener. Loopback is exempt. Behind a proxy that is not in
    /// ``trustedProxies``, all clients have the address of the proxy.
    package var maximumWatchersPerAddress = 500
    /// The maximum number of watch streams per key, including those of browser sessions signed in with it. A key that many clients
    /// share needs a higher limit.
    package var maximumWatchersPerKey = 500
    /// The calls per second that a client address may send; 0 for any number. Loopback is exempt. Behind a proxy that is not in
    /// ``trustedProxies``, all clients have the address of the proxy.
    package var callRatePerAddress = 0
    /// The calls that a client address may send at once; `nil` for those of 10 seconds.
    package var callBurstPerAddress: Int?
    /// The calls per second of a key or of an end user; 0 for any number.
    package var callRatePerKey = 0
    /// The calls of a key or of an end user at once; `nil` for those of 10 seconds.
    package var callBurstPerKey: Int?
    /// The number of requests with unknown keys that a client address may send before it gets 429. One more is allowed every few
    /// seconds. Callers with a valid key are not affected.
    package var maximumFailedAttempts = 20
    /// The response status for a request body that contains only notifications. Some clients treat 204 as a failure.
    package var notificationStatus: NotificationStatus = .noContent

    /// The logger that gets an entry at the end of each request, at level info; `nil` for none.
    package var accessLogger: Logger?
    /// The duration from which a request, except for streams, is logged as slow; `nil` to log none.
    package var slowCallTime: Duration?
    /// The tracer of requests; `nil` to record no spans.
    package var tracer: RecordingTracer?

    /// The status of a response to notifications.
    package enum NotificationStatus: Sendable {
        /// 204, or 200 with an empty body for clients that use the media type `application/json-rpc`.
        case noContent
        /// 200 with an empty body for everyone.
        case ok
    }

    /// Creates a configuration with the defaults.
    package init() {}
}

extension HTTPServerConfiguration {
    /// True if the server is reachable from this machine only.
    var isLoopback: Bool {
        if let address = try? SocketAddress(ipAddress: host, port: 0).ipAddress {
            address.utf8.starts(with: "127.".utf8) || address.utf8.elementsEqual("::1".utf8)
        } else {
            host.utf8.elementsEqual("localhost".utf8)
        }
    }

    /// The address of the first listener. `localhost` is never resolved.
    var listeningAddress: String { host.utf8.elementsEqual("localhost".utf8) ? "127.0.0.1" : host }

    /// The address of the second listener: the loopback address of IPv6, beside that of IPv4.
    var secondAddress: String? { listeningAddress.utf8.elementsEqual("127.0.0.1".utf8) ? "::1" : nil }

    /// True if the server listens on all addresses of the machine.
    var isWildcard: Bool {
        guard let address = try? SocketAddress(ipAddress: host, port: 0).ipAddress else { return false }
        return address.utf8.elementsEqual("0.0.0.0".utf8) || address.utf8.elementsEqual("::".utf8)
    }

    /// Verifies that a server without keys is not reachable from other machines.
    ///
    /// - Throws: ``StatusCode/failedPrecondition`` when there are no keys and ``host`` is not a loopback address.
    package func checkHost(hasKeys: Bool) throws(StatusError) {
        guard !isLoopback, !hasKeys else { return }
        throw StatusError(
            .failedPrecondition,
            "The server has no API keys, so anyone who can connect to \(Excerpt(host)) could read and change everything. Create a key "
                + "with hearth keys create --role admin --data DIR (or --engine URL), or listen on a loopback address (127.0.0.1, ::1 "
                + "or localhost)."
        )
    }

    /// Verifies that a server in emulator mode, on which everybody may claim to be its owner, listens on this machine only.
    package func checkEmulatorHost() throws(StatusError) {
        guard !isLoopback || !trustedProxies.isEmpty else { return }
        throw StatusError(
            .failedPrecondition,
            "In emulator mode, anyone who can connect to the server may do everything. Listen on a loopback address (127.0.0.1, ::1 "
                + "or localhost), without --trusted-proxy, or omit --emulator."
        )
    }

    /// Verifies that a server without keys is not reachable through a proxy.
    ///
    /// - Throws: ``StatusCode/failedPrecondition`` when there are no keys and there are trusted proxies.
    package func checkProxies(hasKeys: Bool) throws(StatusError) {
        guard !trustedProxies.isEmpty, !hasKeys else { return }
        throw StatusError(
            .failedPrecondition,
            "The server has no API keys, so anyone who can connect to the proxy could read and change everything. Create a key with "
                + "hearth keys create --role admin --data DIR (or --engine URL), or omit --trusted-proxy."
        )
    }

    /// Returns the error for a failure to bind the address, with the system's reason and advice.
    func bindError(_ error: IOError) -> StatusError {
        let advice =
            switch error.errnoCode {
            case EADDRINUSE: " Stop the program that uses the port, choose another one, or use --port 0 to let the system choose."
            case EACCES: " Ports below 1024 require privileges. Choose another port, or use --port 0 to let the system choose."
            default: ""
            }
        return StatusError(
            .unavailable,
            "Cannot listen on \(host), port \(port): \(String(cString: strerror(error.errnoCode))).\(advice)",
            cause: error
        )
    }
}
