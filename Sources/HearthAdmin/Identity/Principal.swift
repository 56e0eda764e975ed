package import HearthAPI
package import UTF8Text

/// The authenticated or anonymous sender of a page request.
package struct Principal: Sendable {
    package let caller: Caller
    /// The browser session; `nil` for a request that was authenticated by a header or not at all.
    package let session: Session?
    /// The network of the client address, the unit of rate limits.
    package let network: UTF8Key

    package init(caller: Caller, session: Session? = nil, network: UTF8Key = "") {
        self.caller = caller
        self.session = session
        self.network = network
    }

    /// True if the server requires a key and the request has none.
    var needsSignIn: Bool { caller == .unauthenticated }

    /// The identity that forms, uploads and one-time secrets are bound to.
    ///
    /// - Parameter browserID: The ID that identifies a browser before sign-in.
    func formOwner(browserID: UTF8Key) -> UTF8Key {
        if let session { return UTF8Key("session \(session.name)") }
        if let id = caller.keyID { return UTF8Key("key \(id)") }
        return needsSignIn ? UTF8Key("browser \(browserID)") : "anybody"
    }

    /// The identity that concurrent jobs are counted by: the API key, or the network on a server without keys.
    var jobQuotaOwner: UTF8Key {
        caller.keyID.map { UTF8Key("key \($0)") } ?? UTF8Key("network \(network)")
    }

    /// True if the principal may list the databases of the server, as keys that are restricted to collections may not.
    var canListDatabases: Bool { caller.collections == nil }

    var canWrite: Bool { !needsSignIn && caller.role >= .writer }

    var isAdmin: Bool { !needsSignIn && caller.role == .admin }
}
