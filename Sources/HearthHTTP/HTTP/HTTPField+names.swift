package import HTTPTypes

extension HTTPField.Name {
    // The arguments are literals and valid tokens.
    private static func literal(_ name: String) -> HTTPField.Name {
        HTTPField.Name(name)!
    }

    /// `Host`. The first such field becomes the request's authority; this names any others.
    static let secondHost = literal("Host")
    package static let lastEventID = literal("Last-Event-ID")
    static let secFetchSite = literal("Sec-Fetch-Site")
    static let referrerPolicy = literal("Referrer-Policy")
    static let xAccelBuffering = literal("X-Accel-Buffering")
    static let xForwardedFor = literal("X-Forwarded-For")
}
