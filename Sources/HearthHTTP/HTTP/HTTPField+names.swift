package import HTTPTypes

extension HTTPField.Name {
    // The arguments are literals and valid tokens.
    private static func literal(_ name: String) -> HTTPField.Name {
        HTTPField.Name(name)!
    }

    /// `Host`: any field after the first, which becomes the request's authority.
    static let secondHost = literal("Host")
    package static let lastEventID = literal("Last-Event-ID")
    static let secFetchSite = literal("Sec-Fetch-Site")
    static let referrerPolicy = literal("Referrer-Policy")
    static let xAccelBuffering = literal("X-Accel-Buffering")
    static let forwarded = literal("Forwarded")
    static let xForwardedFor = literal("X-Forwarded-For")
}
