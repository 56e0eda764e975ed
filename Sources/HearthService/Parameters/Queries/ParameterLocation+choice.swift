import JSONRPC
import StrictJSON

extension ParameterLocation {
    /// Takes one of several names.
    func choice<Name: RawRepresentable<String>>(_ json: JSONNode, among names: [Name]) throws(RPCError) -> Name {
        let key = UTF8Key(try String(json: json, at: self))
        guard let name = names.first(where: { UTF8Key($0.rawValue) == key }) else {
            throw invalid("expected one of \(names.map(\.rawValue).joined(separator: ", "))", got: json)
        }
        return name
    }
}
