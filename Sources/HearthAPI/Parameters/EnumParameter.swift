package import JSONRPC
package import StrictJSON
import UTF8Text

/// A parameter whose value is one of a set of names.
package protocol EnumParameter: ParameterValue, CaseIterable, RawRepresentable<String> {}

extension EnumParameter {
    package static var schema: JSONSchema {
        .string(values: allCases.map(\.rawValue))
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        guard let value = Self(name: try String(json: json, at: location)) else {
            throw location.invalid("expected \(Self.allCases.map(\.rawValue).joined(separator: " or "))", got: json)
        }
        self = value
    }
}

extension CaseIterable where Self: RawRepresentable<String> {
    /// Creates the case with a name, or returns `nil` if there is none.
    package init?(name: String) {
        let name = UTF8Key(name)
        guard let value = Self.allCases.first(where: { UTF8Key($0.rawValue) == name }) else { return nil }
        self = value
    }
}
