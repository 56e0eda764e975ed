import Concurrency
package import HearthAPI
package import Logging
package import NIOCore
package import UTF8Text

/// The context of a request: its connection, client and caller.
package struct HearthRequestContext: Sendable {
    /// The route of the request, whose policy applies.
    package internal(set) var route = Route.unlisted
    /// The index of the route in the metrics.
    var routeIndex = Int.max
    /// The ID of the request in logs and in the response: that which a trusted proxy has set, or a new one.
    package internal(set) var requestID = RequestIDSequence.next()
    /// The time since the request was passed on.
    let waiting = Stopwatch()
    /// The connection of the request.
    package let channel: any Channel
    /// The logger of the server.
    let logger: Logger
    /// The size of the body if it had been received completely when the request was passed on.
    var receivedBodyBytes: Int?
    /// The executor that the request is processed on; `nil` for Swift's shared threads.
    package internal(set) var executor: (any TaskExecutor)?
    /// False if the request's `Host` is not one of the server's names, which only routes with ``RoutePolicy/allowsAnyLocalHost``
    /// accept.
    var hasKnownHost = true
    /// The address at the other end of the connection; `nil` for a Unix domain socket.
    var peer: IPAddress?
    /// True if the client is connected by TLS: to the server, or to a trusted proxy that says so.
    package internal(set) var isSecure = false
    /// The ID token that the connection has sent last.
    var lastIDToken: LastIDToken?
    /// The client address reported by a trusted proxy; `nil` without one.
    var forwardedClient: IPAddress?
    /// The authenticated caller.
    package internal(set) var caller = Caller.unauthenticated
    /// The browser session that authenticated the caller.
    package internal(set) var session: Session?

    init(channel: any Channel, logger: Logger) {
        self.channel = channel
        self.logger = logger
    }

    /// A logger with the request ID, and the ID of the trace. Created on demand, for requests that log something.
    package var requestLogger: Logger {
        var logger = logger.with(requestID: requestID)
        if let id = RequestTrace.current?.traceID { logger[metadataKey: "trace_id"] = .string(id) }
        return logger
    }

    /// The address of the client, or of an untrusted proxy in front of it; `nil` for a Unix domain socket.
    var client: IPAddress? {
        forwardedClient ?? peer
    }

    /// The key of the client for per-address limits.
    package var clientNetwork: UTF8Key {
        client?.network ?? ""
    }
}

extension Logger {
    /// Returns a logger with the ID of a request as metadata.
    func with(requestID: String) -> Logger {
        var logger = self
        logger[metadataKey: "http.request.id"] = .string(requestID)
        return logger
    }
}
