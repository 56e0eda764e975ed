import DocumentModel
import JSONRPC

extension Arguments {
    /// The transforms of a write, with the rules for their number.
    func transforms(
        _ parameter: Parameter<[TransformParameter]?>,
        of path: DocumentPath
    ) throws(RPCError) -> [FieldTransform] {
        let transforms = try self[parameter] ?? []
        try location(of: parameter).model { () throws(StatusError) in
            try FieldTransform.validateCount(transforms.count, at: path)
        }
        return transforms.map(\.transform)
    }

    /// The fields that a write names, which must be such as a document may have.
    func fields(_ parameter: Parameter<[FieldPath]?>) throws(RPCError) -> [FieldPath]? {
        let fields = try self[parameter]
        for (index, field) in (fields ?? []).enumerated() {
            try ParameterLocation.element(index, of: location(of: parameter)).model { () throws(StatusError) in
                try field.validate()
            }
        }
        return fields
    }
}
