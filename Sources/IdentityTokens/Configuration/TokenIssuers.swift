package import DocumentModel
package import UTF8Text

/// The issuers that a server trusts, with user IDs that cannot be confused.
package struct TokenIssuers: Hashable, Sendable {
    /// The issuers in the order of the configuration.
    package let all: [TokenIssuer]
    private let indices: [UTF8Key: Int]

    private static let maximumCount = 100

    /// Creates a list of issuers.
    ///
    /// At most one issuer may have no `uidPrefix`, and no prefix may begin with another one: two issuers may give the same ID to
    /// different users.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if two issuers cannot be told apart. The error's `parameterPath` is the member of
    ///   the configuration file, such as `issuers[1].uidPrefix`.
    package init(_ issuers: [TokenIssuer]) throws(StatusError) {
        all = issuers
        guard issuers.count <= Self.maximumCount else {
            throw Self.error("issuers", "Expected at most \(Self.maximumCount) issuers, found \(issuers.count).")
        }
        var indices: [UTF8Key: Int] = [:]
        for (index, issuer) in issuers.enumerated() {
            guard indices.updateValue(index, forKey: issuer.issuer) == nil else {
                throw Self.error("issuers[\(index)].issuer", "The issuer \(Excerpt(issuer.issuer.string)) occurs twice.")
            }
            for other in issuers[..<index] {
                guard let problem = Self.ambiguity(of: issuer, other) else { continue }
                throw Self.error("issuers[\(index)].uidPrefix", problem)
            }
        }
        self.indices = indices
    }

    /// The issuer with the text of a claim `iss`, or `nil` if it is not trusted.
    package subscript(_ issuer: UTF8Key) -> TokenIssuer? {
        indices[issuer].map { all[$0] }
    }

    /// Returns whether a user ID of an issuer, without its prefix, could be the prefixed ID of another issuer's user.
    func isAmbiguous(_ id: UTF8Key, of issuer: TokenIssuer) -> Bool {
        issuer.uidPrefix.byteCount == 0
            && all.contains { $0.uidPrefix.byteCount > 0 && id.utf8.starts(with: $0.uidPrefix.utf8) }
    }

    private static func ambiguity(of issuer: TokenIssuer, _ other: TokenIssuer) -> String? {
        let (prefix, otherPrefix) = (issuer.uidPrefix, other.uidPrefix)
        if prefix.byteCount == 0, otherPrefix.byteCount == 0 {
            return "Expected a prefix for the user IDs of \(Excerpt(issuer.issuer.string)), such as \"id:\": another issuer has "
                + "none, and both may give the same ID to different users."
        }
        guard prefix.byteCount > 0, otherPrefix.byteCount > 0 else { return nil }
        if prefix.utf8.starts(with: otherPrefix.utf8) || otherPrefix.utf8.starts(with: prefix.utf8) {
            return "The prefixes \(Excerpt(otherPrefix.string)) and \(Excerpt(prefix.string)) of user IDs cannot be told apart, "
                + "since one begins with the other."
        }
        return nil
    }

    private static func error(_ path: String, _ message: String) -> StatusError {
        var error = StatusError(.invalidArgument, message)
        error.parameterPath = path
        return error
    }
}
