package import HTTPTypes

extension HTTPField.Name {
    // The arguments are literals and valid tokens.
    private static func literal(_ name: String) -> HTTPField.Name {
        HTTPField.Name(name)!
    }

    /// `Host`: any field after the first, which becomes the request's authority.
    static let secondHost = literal("Host")
    package static let lastEventID = literal("Last-Event-ID")
    /// The number of damaged documents omitted from a response of Firestore's protocols, which cannot report them.
    package static let hearthDamagedDocuments = literal("Hearth-Damaged-Documents")
    /// The time in seconds for which the state that a standby shows may lack commits of its primary.
    static let hearthAge = literal("Hearth-Age")
    /// The maximum of ``hearthAge`` that a request permits.
    static let hearthMaxAge = literal("Hearth-Max-Age")
    /// Sent by the script of a page for its regular updates, which are no use of a session.
    static let hearthRefresh = literal("Hearth-Refresh")
    static let secFetchSite = literal("Sec-Fetch-Site")
    static let referrerPolicy = literal("Referrer-Policy")
    package static let xAccelBuffering = literal("X-Accel-Buffering")
    static let accessControlRequestPrivateNetwork = literal("Access-Control-Request-Private-Network")
    static let accessControlAllowPrivateNetwork = literal("Access-Control-Allow-Private-Network")
    static let keepAlive = literal("Keep-Alive")
    static let proxyConnection = literal("Proxy-Connection")
    static let forwarded = literal("Forwarded")
    static let xForwardedFor = literal("X-Forwarded-For")
    package static let xRequestID = literal("X-Request-Id")
    static let xForwardedProto = literal("X-Forwarded-Proto")
    static let traceparent = literal("traceparent")
    static let tracestate = literal("tracestate")
}
