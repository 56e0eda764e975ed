package import DocumentModel
package import DocumentStore
import SecurityRules
import UTF8Text

extension RulesRegistry {
    /// Returns the decision of a database's rules about edits of document files.
    ///
    /// For the rules, the owner of the files is signed in: `request.auth.uid` is `file:` and the name, as the history has the author, and
    /// `request.auth.token.iss` is `file`, which is no issuer of ID tokens.
    ///
    /// - Parameters:
    ///   - id: The database.
    ///   - isDefault: True for the default database of the server.
    ///   - user: The owner of the files; `nil` for nobody signed in.
    package func editAuthorization(
        of id: DatabaseID,
        isDefault: Bool,
        by user: String?
    ) async throws(StatusError) -> any CommitAuthorization {
        let rules = if let known = openRules(of: id) { known } else { try await rules(of: id, isDefault: isDefault) }
        return RulesAuthorization(gate: RulesGate(rules: rules, user: user.map(EndUser.init(owningFiles:))))
    }
}

extension EndUser {
    /// Creates the user who owns a document file.
    fileprivate convenience init(owningFiles name: String) {
        let uid = UTF8Key("file:" + name)
        self.init(
            ID(issuer: "file", uid: uid),
            authentication: RulesRequest.Authentication(
                uid: uid,
                token: RuleMap([("iss", .string("file")), ("sub", .string(uid))])
            ),
            expirationTime: nil,
            tokenDigest: uid
        )
    }
}
