import DocumentModel
import JSONRPC
import StrictJSON
import UTF8Text

extension ParameterLocation {
    /// Parses a string parameter.
    ///
    /// - Throws: `invalidParams` if the value is not a string; the parser's error, with this location, if it rejects the string.
    func parseString<Value>(_ json: JSONNode, as parse: (String) throws(StatusError) -> Value) throws(RPCError) -> Value {
        let string = try String(json: json, at: self)
        return try locatingErrors { () throws(StatusError) in try parse(string) }
    }

    /// Runs a closure and attaches this location to its error.
    func locatingErrors<Value>(_ body: () throws(StatusError) -> Value) throws(RPCError) -> Value {
        do throws(StatusError) {
            return try body()
        } catch {
            throw RPCError(error, at: self)
        }
    }
}

extension ParameterLocation {
    /// Parses one of a set of names.
    func parseName<Name: RawRepresentable<String>>(_ json: JSONNode, among names: [Name]) throws(RPCError) -> Name {
        let key = UTF8Key(try String(json: json, at: self))
        guard let name = names.first(where: { UTF8Key($0.rawValue) == key }) else {
            throw invalid("expected one of \(names.map(\.rawValue).joined(separator: ", "))", got: json)
        }
        return name
    }
}
