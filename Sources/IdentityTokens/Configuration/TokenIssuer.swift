package import DocumentModel
package import UTF8Text

/// An issuer of ID tokens that a server trusts.
package struct TokenIssuer: Hashable, Sendable {
    /// The rules for the claims of an issuer's tokens.
    package enum Kind: Hashable, Sendable {
        /// OpenID Connect Core 1.0, section 3.1.3.7.
        case openID
        /// ID tokens of Firebase Authentication.
        case firebase
    }

    /// The text of the claim `iss`, compared byte by byte.
    package let issuer: UTF8Key
    /// The accepted audiences; not empty.
    package let audiences: [UTF8Key]
    /// The accepted signature algorithms; not empty, and HS256 only alone.
    package let algorithms: Set<SignatureAlgorithm>
    /// The source of the keys.
    package let keySource: KeySource
    /// The name of the claim with the user's ID.
    package let uidClaim: UTF8Key
    /// The prefix of the IDs of this issuer's users, which keeps them apart from those of other issuers; may be empty.
    package let uidPrefix: UTF8Key
    /// The patterns of the databases for which tokens of this issuer are accepted.
    package let databases: [DatabasePattern]

    private static let firebasePrefix = "https://securetoken.google.com/"
    private static let firebaseKeys = "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
    /// The claim that identifies a user (RFC 7519, section 4.1.2).
    package static let subjectClaim: UTF8Key = "sub"
    private static let maximumTextBytes = 1_024

    /// Creates an issuer. An issuer with the address of Firebase Authentication is of kind ``Kind/firebase``.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the configuration is incomplete or unsafe. The error's `parameterPath` is the
    ///   member of the configuration file: `issuer`, `audience`, `algorithms`, `uid`, `uidPrefix` or `databases`.
    package init(
        _ issuer: UTF8Key,
        audiences: [UTF8Key],
        algorithms: Set<SignatureAlgorithm>,
        keySource: KeySource,
        uidClaim: UTF8Key = subjectClaim,
        uidPrefix: UTF8Key = "",
        databases: [DatabasePattern] = [.all]
    ) throws(StatusError) {
        self.issuer = issuer
        self.audiences = audiences
        self.algorithms = algorithms
        self.keySource = keySource
        self.uidClaim = uidClaim
        self.uidPrefix = uidPrefix
        self.databases = databases
        if let problem = problem {
            var error = StatusError(.invalidArgument, problem.message)
            error.parameterPath = problem.member.string
            throw error
        }
    }

    /// Creates the issuer of the users of a Firebase project.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the project ID is empty or has characters other than ASCII letters, digits and
    ///   hyphens.
    package static func firebase(
        project: UTF8Key,
        keySource: KeySource? = nil,
        uidPrefix: UTF8Key = "",
        databases: [DatabasePattern] = [.all]
    ) throws(StatusError) -> TokenIssuer {
        let standardSource = try KeySource.keySetURL(HTTPSURL(firebaseKeys))
        return try TokenIssuer(
            UTF8Key(firebasePrefix + project.string),
            audiences: [project],
            algorithms: [.rs256],
            keySource: keySource ?? standardSource,
            uidPrefix: uidPrefix,
            databases: databases
        )
    }

    /// The kind of the issuer.
    package var kind: Kind { issuer.utf8.starts(with: Self.firebasePrefix.utf8) ? .firebase : .openID }

    /// The project ID of an issuer of Firebase; `nil` for other issuers.
    private var firebaseProject: UTF8Key? {
        guard kind == .firebase else { return nil }
        return UTF8Key(Substring(issuer.utf8.dropFirst(Self.firebasePrefix.utf8.count)))
    }

    /// Returns whether tokens of this issuer are accepted for a database.
    package func isAccepted(for database: DatabaseID) -> Bool {
        databases.contains { $0.matches(database) }
    }
}

extension TokenIssuer {
    /// The first problem of the configuration, with the member that it is about.
    private var problem: (member: UTF8Key, message: String)? {
        if let message = problemOfTexts { return message }
        if algorithms.isEmpty {
            return (IssuerMembers.algorithms, "Expected at least one of \(SignatureAlgorithm.names).")
        }
        if algorithms.contains(.hs256), algorithms.count > 1 {
            // Otherwise a public key could be used as the secret of a forged token (RFC 8725, section 2.1).
            return (
                IssuerMembers.algorithms,
                "HS256 cannot be combined with other algorithms. Configure a second issuer for tokens with a shared secret."
            )
        }
        if case .secretFile = keySource {
            if !algorithms.contains(.hs256) {
                return (IssuerMembers.algorithms, "Expected HS256, the only algorithm with a shared secret.")
            }
        } else if algorithms.contains(.hs256) {
            return (IssuerMembers.algorithms, "HS256 requires a secretFile; public keys cannot be its secret.")
        }
        if databases.isEmpty {
            return (IssuerMembers.databases, "Expected at least one pattern. Omit the member to accept tokens for all databases.")
        }
        return problemOfFirebase
    }

    private var problemOfTexts: (member: UTF8Key, message: String)? {
        func isValid(_ text: UTF8Key) -> Bool { (1...Self.maximumTextBytes).contains(text.byteCount) }
        let expected = "Expected 1 to \(Self.maximumTextBytes) bytes."
        if !isValid(issuer) { return (IssuerMembers.issuer, expected) }
        if audiences.isEmpty {
            return (IssuerMembers.audience, "Expected at least one audience, or tokens for other services would be accepted.")
        }
        if !audiences.allSatisfy(isValid) { return (IssuerMembers.audience, expected) }
        if !isValid(uidClaim) { return (IssuerMembers.uid, expected) }
        if uidPrefix.byteCount > Self.maximumTextBytes { return (IssuerMembers.uidPrefix, expected) }
        return nil
    }

    private var problemOfFirebase: (member: UTF8Key, message: String)? {
        guard let project = firebaseProject else { return nil }
        let isValid = project.byteCount > 0 && project.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
        if !isValid {
            return (IssuerMembers.issuer, "Expected \(Self.firebasePrefix) and a project ID, found \(Excerpt(issuer.string)).")
        }
        if audiences != [project] {
            return (IssuerMembers.audience, "Expected only \(Excerpt(project.string)), the project ID in the issuer.")
        }
        if algorithms != [.rs256] { return (IssuerMembers.algorithms, "Expected only RS256, with which Firebase signs tokens.") }
        if uidClaim != Self.subjectClaim { return (IssuerMembers.uid, "Expected sub, the user ID in tokens of Firebase.") }
        return nil
    }
}
