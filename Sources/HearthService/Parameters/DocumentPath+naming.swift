import DocumentModel
import JSONRPC
import StrictJSON

extension DocumentPath {
    /// Runs steps that take values for the document from a call, and names the document in the model's errors.
    func named<Value>(in steps: () throws(RPCError) -> Value) throws(RPCError) -> Value {
        do throws(RPCError) {
            return try steps()
        } catch {
            var error = error
            // An error about the call's shape has a place in the parameters as its path.
            if error.data["path"] == nil { error.data["path"] = .string(string) }
            throw error
        }
    }
}
