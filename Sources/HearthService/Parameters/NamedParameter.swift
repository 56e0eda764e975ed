package import JSONRPC
package import StrictJSON

/// A parameter that is one of a few names.
package protocol NamedParameter: ParameterValue, CaseIterable, RawRepresentable<String> {}

extension NamedParameter {
    package static var schema: JSONSchema {
        .string(values: allCases.map(\.rawValue))
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        let name = UTF8Key(try String(json: json, at: location))
        guard let value = Self.allCases.first(where: { UTF8Key($0.rawValue) == name }) else {
            throw location.invalid("expected \(Self.allCases.map(\.rawValue).joined(separator: " or "))", got: json)
        }
        self = value
    }
}
