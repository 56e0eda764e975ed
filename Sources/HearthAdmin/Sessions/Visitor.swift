import DocumentModel
package import HearthService
package import StrictJSON

/// Who asks for a page, and how the server knows.
package struct Visitor: Sendable {
    package let caller: Caller
    /// The session of the browser; nil where there is none.
    package let session: Session?
    /// The network of the address that asks, where there are limits by address.
    package let network: UTF8Key

    package init(caller: Caller, session: Session? = nil, network: UTF8Key = "") {
        self.caller = caller
        self.session = session
        self.network = network
    }

    /// Whether it has to sign in before anything is shown.
    var isUnknown: Bool { caller == .nobody }

    /// Whom the forms of a page are made for.
    ///
    /// - Parameter browser: What tells browsers apart that have not signed in.
    func formName(browser: UTF8Key) -> UTF8Key {
        if let session { return UTF8Key("session \(session.name)") }
        if let id = caller.keyID { return UTF8Key("key \(id)") }
        return isUnknown ? UTF8Key("browser \(browser)") : "anybody"
    }

    /// Who shares what it may have going on at a time: all who show the same key, or without keys all who come from one network.
    var workOwner: UTF8Key {
        caller.keyID.map { UTF8Key("key \($0)") } ?? UTF8Key("network \(network)")
    }
}

extension Visitor {
    /// Whether it may write documents.
    var mayWrite: Bool { !isUnknown && caller.role >= .writer }

    /// Whether it may make keys, change indexes and settle whatever concerns the whole database.
    var isAdmin: Bool { !isUnknown && caller.role == .admin }
}
