package import JSONRPC
package import StrictJSON

/// What a caller may do; each role may do what those before it may.
package enum Role: String, CaseIterable, Sendable {
    /// Read and watch.
    case reader
    /// Write documents.
    case writer
    /// Make and revoke keys, and look at the pages of the administration.
    case admin
}

extension Role: Comparable {
    /// Whether `left` may do less.
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
