package import DocumentModel
import JSONRPC

extension ServiceContext: RPCContext {
    /// Requires that the caller is still valid and has at least the given role.
    ///
    /// - Throws: ``StatusCode/unauthenticated`` if its key was revoked or has expired since authentication;
    ///   ``StatusCode/permissionDenied`` if its role is insufficient.
    package func authorize(_ role: Role) throws(StatusError) {
        guard keys.isValid(caller) else {
            throw StatusError(.unauthenticated, "The key was revoked or has expired. Ask an admin for a new one.")
        }
        guard caller.role < role else { return }
        throw StatusError(
            .permissionDenied,
            "The call requires a key with the role \(role.rawValue); the key has the role \(caller.role.rawValue)."
        )
    }

    /// Requires a caller with a key: callers of a server without keys are rejected.
    ///
    /// - Throws: ``StatusCode/permissionDenied``.
    func requireAuthenticatedCaller() throws(StatusError) {
        guard caller.identity == .openAccess else { return }
        throw StatusError(
            .permissionDenied,
            "The call requires a key with the role admin, and no keys exist. Create the first key on the machine with the data folder: "
                + "hearth keys create --role admin --data DIR"
        )
    }
}

extension [ErrorDescription] {
    /// The errors for callers without the required rights.
    static let accessErrors = [
        ErrorDescription(status: .unauthenticated, "The key was revoked or has expired."),
        ErrorDescription(status: .permissionDenied, "The role or the collections of the key do not permit the call."),
    ]
}
