import DocumentModel
import JSONRPC
import StrictJSON

extension ParameterLocation {
    /// Takes what the model makes of a string.
    ///
    /// - Throws: `invalidParams` when it is no string; the model's own error, with this place added, when the model refuses it.
    func text<Value>(_ json: JSONNode, as parse: (String) throws(StatusError) -> Value) throws(RPCError) -> Value {
        let string = try String(json: json, at: self)
        return try model { () throws(StatusError) in try parse(string) }
    }

    /// Runs a step of the model, and adds this place to its error.
    func model<Value>(_ step: () throws(StatusError) -> Value) throws(RPCError) -> Value {
        do throws(StatusError) {
            return try step()
        } catch {
            throw RPCError(error, at: self)
        }
    }
}
