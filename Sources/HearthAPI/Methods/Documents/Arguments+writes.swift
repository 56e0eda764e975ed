import DocumentModel
import JSONRPC
import UTF8Text

extension Arguments {
    /// Returns the transforms of a write, and validates their number.
    func transforms(
        _ parameter: Parameter<[TransformParameter]?>,
        of path: DocumentPath
    ) throws(RPCError) -> [FieldTransform] {
        let transforms = try self[parameter] ?? []
        try location(of: parameter).locatingErrors { () throws(StatusError) in
            try FieldTransform.validateCount(transforms.count, at: path)
        }
        return transforms.map(\.transform)
    }

    /// Returns a parameter's field paths, and validates them as fields of a document.
    func fields(_ parameter: Parameter<[FieldPath]?>) throws(RPCError) -> [FieldPath]? {
        let fields = try self[parameter]
        for (index, field) in (fields ?? []).enumerated() {
            try ParameterLocation.element(index, of: location(of: parameter)).locatingErrors { () throws(StatusError) in
                try field.validate()
            }
        }
        return fields
    }
}

extension DocumentPath {
    /// Runs a closure that decodes values of the document, and attaches the document's path to its errors.
    func attachingToErrors<Value>(_ body: () throws(RPCError) -> Value) throws(RPCError) -> Value {
        do throws(RPCError) {
            return try body()
        } catch {
            var error = error
            // An error in the structure of the call has the location of the parameter as its path.
            if error.data["path"] == nil { error.data["path"] = .string(string) }
            throw error
        }
    }
}
