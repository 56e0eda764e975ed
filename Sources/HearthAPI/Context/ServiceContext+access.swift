package import DocumentModel
import DocumentStore
import JSONRPC

extension ServiceContext: RPCContext {
    /// Requires that the caller is still valid and has a permission.
    ///
    /// - Throws: ``StatusCode/unauthenticated`` if its key was revoked, or its key or token has expired, since authentication;
    ///   ``StatusCode/permissionDenied`` if its role is insufficient, or the permission is not open to end users.
    package func authorize(_ permission: Permission) throws(StatusError) {
        guard keys.isValid(caller) else {
            guard caller.user == nil else { throw .tokenExpired }
            throw StatusError(.unauthenticated, "The key was revoked or has expired. Ask an admin for a new one.")
        }
        if caller.isEndUser {
            guard !permission.isOpenToEndUsers else { return }
            throw .closedToEndUsers("The call requires a key with the role \(permission.role.rawValue).")
        }
        guard caller.role < permission.role else { return }
        throw StatusError(
            .permissionDenied,
            "The call requires a key with the role \(permission.role.rawValue); the key has the role \(caller.role.rawValue)."
        )
    }

    /// Requires a server that accepts changes, for those that no store refuses.
    ///
    /// - Throws: ``StatusCode/failedPrecondition`` on a standby.
    func requirePrimary() throws(StatusError) {
        if let standby = server.standby { throw .standby(of: standby.primary) }
    }

    /// Requires a caller with a key: callers of a server without keys are rejected.
    ///
    /// - Throws: ``StatusCode/permissionDenied``.
    func requireAuthenticatedCaller() throws(StatusError) {
        guard [.openAccess, .emulatorOwner].contains(caller.identity) else { return }
        throw StatusError(
            .permissionDenied,
            "The call requires a key with the role admin, and no keys exist. Create the first key on the machine with the data folder, or with the engine: "
                + "hearth keys create --role admin --data DIR (or --engine URL)"
        )
    }
}

extension StatusError {
    /// The error for what is not open to end users, whatever the rules are.
    package static func closedToEndUsers(_ reason: String) -> StatusError {
        StatusError(.permissionDenied, "\(reason) It is not open to end users.")
    }
}

extension [ErrorDescription] {
    /// The errors for callers without the required rights.
    static let accessErrors = [
        ErrorDescription(status: .unauthenticated, "The key was revoked, or the key or token has expired."),
        ErrorDescription(
            status: .permissionDenied,
            "The role or the collections of the key, or the rules for an end user, do not permit the call."
        ),
    ]
}
