package import DocumentModel
import JSONRPC

extension ServiceContext: RPCContext {
    /// Makes sure that the caller is still known, and has a role.
    ///
    /// - Throws: ``StatusCode/unauthenticated`` when its key was revoked or has expired meanwhile;
    ///   ``StatusCode/permissionDenied`` when its role is too small.
    package func authorize(_ right: Role) throws(StatusError) {
        guard keys.isValid(caller) else {
            throw StatusError(.unauthenticated, "The key was revoked, or has expired. Ask an admin for another one.")
        }
        guard caller.role < right else { return }
        throw StatusError(
            .permissionDenied,
            "This needs a key with the role \(right.rawValue), and the key is one of a \(caller.role.rawValue)."
        )
    }

    /// Makes sure that the caller is not just anybody, since there are no keys.
    ///
    /// - Throws: ``StatusCode/permissionDenied``.
    func requireKnownCaller() throws(StatusError) {
        guard caller.identity == .anybody else { return }
        throw StatusError(
            .permissionDenied,
            "There are no keys yet, so nobody can show the one of an admin. Make the first one where the data folder is: "
                + "hearth keys create --role admin --data DIR"
        )
    }
}

extension [ErrorDescription] {
    /// How callers without the right are refused.
    static let ofAccess = [
        ErrorDescription(status: .unauthenticated, "The key was revoked or has expired."),
        ErrorDescription(status: .permissionDenied, "The key does not allow this, by its role or its collections."),
    ]
}
