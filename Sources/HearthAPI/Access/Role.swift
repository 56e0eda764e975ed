package import JSONRPC
package import StrictJSON

/// The role of a caller. Each role includes the rights of the roles before it.
package enum Role: String, CaseIterable, Sendable {
    /// Reads and watches documents.
    case reader
    /// Writes documents.
    case writer
    /// Also manages keys, indexes and databases.
    case admin
}

extension Role: Comparable {
    /// Returns whether `left` has fewer rights.
    package static func < (left: Role, right: Role) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .reader: 0
        case .writer: 1
        case .admin: 2
        }
    }
}

extension Role: ParameterValue {
    package static var schema: JSONSchema { .string(values: allCases.map(\.rawValue)) }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        guard let role = Role(name: try String(json: json, at: location)) else {
            throw location.invalid("expected \(Self.allCases.map(\.rawValue).joined(separator: ", "))", got: json)
        }
        self = role
    }
}
