internal import DocumentModel
internal import Foundation
internal import StrictJSON

/// A document's data on the way to the server: the values, and the fields that the server fills in or deletes.
package struct DocumentData {
    package var fields: MapValue
    var sentinels: [(path: FieldPath, value: FieldValue)] = []
    /// What the references belong to.
    var origins: [Firestore] = []

    /// Data as users write them.
    init(_ dictionary: [String: Any]) throws(StatusError) {
        var reader = DictionaryReader(permitsSentinels: true)
        fields = try reader.map(dictionary)
        sentinels = reader.sentinels
        origins = reader.origins
    }

    init(fields: MapValue, sentinels: [(path: FieldPath, value: FieldValue)], origins: [Firestore]) {
        self.fields = fields
        self.sentinels = sentinels
        self.origins = origins
    }

    /// The fields to delete.
    var deleted: [FieldPath] {
        sentinels.compactMap { $0.value.kind == .delete ? $0.path : nil }
    }

    /// What the server computes.
    ///
    /// - Throws: `.invalidArgument` for elements that can't be in a document.
    func transforms() throws(StatusError) -> [FieldTransform] {
        var transforms: [FieldTransform] = []
        for (path, value) in sentinels {
            switch value.kind {
            case .delete: break
            case .transform(let operation): transforms.append(FieldTransform(field: path, operation: operation))
            case .invalid(let message): throw StatusError(.invalidArgument, message, field: path.description)
            }
        }
        return transforms
    }

    /// The data as users read and write them, the sentinels in their places.
    var dictionary: [String: Any] {
        var dictionary = fields.dictionary(in: nil)
        for (path, value) in sentinels { dictionary.set(value, at: path.segments.map(\.string)[...]) }
        return dictionary
    }
}

extension [String: Any] {
    fileprivate mutating func set(_ value: Any, at path: ArraySlice<String>) {
        guard let name = path.first else { return }
        if path.count == 1 {
            self[name] = value
        } else {
            var inner = self[name] as? [String: Any] ?? [:]
            inner.set(value, at: path.dropFirst())
            self[name] = inner
        }
    }
}
