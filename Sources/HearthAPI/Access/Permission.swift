/// The permission that a method requires: a role, unless rules decide for an end user.
///
/// Methods are closed to end users unless they read or write documents, where rules decide about each document and query.
package struct Permission: Hashable, Sendable {
    /// The least role of a key.
    package let role: Role
    /// True if end users may call the method.
    package let isOpenToEndUsers: Bool

    private init(_ role: Role, isOpenToEndUsers: Bool = false) {
        self.role = role
        self.isOpenToEndUsers = isOpenToEndUsers
    }

    /// The role reader; closed to end users.
    package static let reader = Permission(.reader)
    /// The role writer; closed to end users.
    package static let writer = Permission(.writer)
    /// The role admin; closed to end users.
    package static let admin = Permission(.admin)
    /// The role reader, or what rules allow an end user to read.
    package static let readDocuments = Permission(.reader, isOpenToEndUsers: true)
    /// The role writer, or what rules allow an end user to write.
    package static let writeDocuments = Permission(.writer, isOpenToEndUsers: true)
}

/// The name of the role, which the documentation of a method shows.
extension Permission: RawRepresentable {
    package var rawValue: String { role.rawValue }

    /// Creates the permission that a role has; closed to end users.
    package init?(rawValue: String) {
        guard let role = Role(rawValue: rawValue) else { return nil }
        self.init(role)
    }
}
