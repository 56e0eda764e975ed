internal import DocumentModel
internal import StrictJSON
package import UTF8Text

/// The members of a field transform: the field, and one operation.
package enum TransformKeys {
    package static let field: UTF8Key = "field"
    package static let serverTimestamp: UTF8Key = "serverTimestamp"
    package static let increment: UTF8Key = "increment"
    package static let maximum: UTF8Key = "maximum"
    package static let minimum: UTF8Key = "minimum"
    package static let arrayUnion: UTF8Key = "arrayUnion"
    package static let arrayRemove: UTF8Key = "arrayRemove"
}

extension FieldTransform {
    /// Writes the transform, such as `{"field": "readers", "increment": 1}`.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(TransformKeys.field, field.description)
        switch operation {
        case .serverTimestamp: writer.member(TransformKeys.serverTimestamp, true)
        case .increment(let operand): writer.operand(TransformKeys.increment, operand)
        case .maximum(let operand): writer.operand(TransformKeys.maximum, operand)
        case .minimum(let operand): writer.operand(TransformKeys.minimum, operand)
        case .arrayUnion(let elements): writer.array(TransformKeys.arrayUnion, of: elements) { $0.write(to: &$1) }
        case .arrayRemove(let elements): writer.array(TransformKeys.arrayRemove, of: elements) { $0.write(to: &$1) }
        }
        writer.endObject()
    }
}

extension JSONWriter {
    fileprivate mutating func operand(_ key: UTF8Key, _ value: Value) {
        self.key(key)
        value.write(to: &self)
    }
}
