/// How a ``HearthServer`` listens and what it lets through; the defaults suit a program on the same machine.
package struct HearthServerConfiguration: Sendable {
    /// The address to listen on. One that others than this machine reach is refused while there are no keys, because callers
    /// cannot be told apart.
    package var host = "127.0.0.1"
    /// The port to listen on; 0 lets the system pick one.
    package var port = 8080
    /// Host names under which the server may be called besides ``host``, `localhost`, `127.0.0.1` and `[::1]`, such as the
    /// name that a reverse proxy passes on. Without ports: any port is accepted.
    package var allowedHosts: [String] = []
    /// The origins of other sites whose pages may call, such as `https://app.example.org`; none by default.
    package var allowedOrigins: [String] = []
    /// The proxies that are believed when they name the client that they pass a request on for. Whoever else sends an
    /// `X-Forwarded-For` has made it up, as far as can be told.
    package var trustedProxies: [AddressRange] = []
    /// How many connections may be open at the same time; one more is answered with 503 and closed. When nil, as many as the
    /// limit of open files leaves room for, by ``OpenFileLimit/connections``.
    package var maximumConnections: Int?
    /// How many of them one client address may have; this machine's own, where a proxy may be, and ``trustedProxies`` may have
    /// all.
    package var maximumConnectionsPerAddress = 512
    /// How long a client may take to send the head of a request, from its first byte on.
    package var headTimeout: Duration = .seconds(10)
    /// How long a client may take to send the body of a request, besides the time that the bytes it has sent take at
    /// ``minimumBodyRate``.
    package var bodyTimeout: Duration = .seconds(10)
    /// How many bytes a second of a body are to come, in the long run.
    package var minimumBodyRate = 1_024
    /// How many bytes of request bodies are held in memory at the same time, over all requests.
    package var maximumHeldBodyBytes = 64 << 20
    /// How many bytes of answers to calls are held in memory at the same time, over all clients: what is built and was not
    /// taken by its connection yet, and what the calls under way are expected to answer. A connection itself holds about
    /// 100 KiB at most of what its client has not read.
    package var maximumHeldAnswerBytes = 256 << 20
    /// How long a call waits for room among ``maximumHeldAnswerBytes`` before it is refused.
    package var answerWait: Duration = .seconds(2)
    /// How many bodies of more than 1 MiB are worked on at the same time; others wait for their turn.
    package var maximumLargeBodies = 2
    /// How long a connection may be without a request, or a request without progress, before it is closed.
    package var idleTimeout: Duration = .seconds(75)
    /// How long a client may accept nothing of a response before its connection is closed.
    package var stallTimeout: Duration = .seconds(30)
    /// How long, after an answer that ends the connection, the rest of a request is still read, so that the client gets to
    /// see the answer.
    package var lingerTimeout: Duration = .seconds(3)
    /// How long, after the server was told to stop, a client that accepts nothing can keep it from stopping.
    package var shutdownGrace: Duration = .seconds(2)
    /// How many watch streams may be open at the same time.
    package var maximumWatchers = 1_000
    /// How many of them one client address may have, loopback included. Behind a proxy that is none of
    /// ``trustedProxies`` all clients have the proxy's address.
    package var maximumWatchersPerAddress = 64
    /// How many of them callers with one key may have, the browsers included that have signed in with it: by default as many as
    /// an address may have. A key that many clients share needs more.
    package var maximumWatchersPerKey = 64
    /// How many times one client address may show keys that are not known, before it is answered that it shows too many. One more
    /// is allowed every few seconds. Callers with a key that is known are never kept waiting.
    package var maximumFailedAttempts = 20
    /// Whether `DELETE /emulator/v1/…/documents` deletes all documents, as tests against Firestore's emulator want it.
    package var allowsClearing = false
    /// The status that a call with nothing to answer, a notification, gets. Some clients take 204 for a failure.
    package var notificationStatus: NotificationStatus = .noContent

    /// The status of a response to notifications.
    package enum NotificationStatus: Sendable {
        /// 204, but 200 with an empty body for clients that name `application/json-rpc`.
        case noContent
        /// 200 with an empty body for everyone.
        case ok
    }

    /// Makes a configuration with the defaults.
    package init() {}
}
