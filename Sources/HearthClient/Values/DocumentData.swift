internal import DocumentModel
internal import Foundation
internal import UTF8Text

/// The data of a write: values, and sentinels for fields that are deleted or computed by the server.
package struct DocumentData {
    package var fields: MapValue
    var sentinels: [(path: FieldPath, value: FieldValue)] = []
    /// The databases of the references.
    var databases: [Firestore] = []

    /// Converts a dictionary of user data.
    init(_ dictionary: [String: Any]) throws(StatusError) {
        var reader = UserDataReader(allowsSentinels: true)
        fields = try reader.map(dictionary)
        sentinels = reader.sentinels
        databases = reader.databases
    }

    init(fields: MapValue, sentinels: [(path: FieldPath, value: FieldValue)], databases: [Firestore]) {
        self.fields = fields
        self.sentinels = sentinels
        self.databases = databases
    }

    /// The fields with a delete sentinel.
    var deleted: [FieldPath] {
        sentinels.compactMap { $0.value.kind == .delete ? $0.path : nil }
    }

    /// Returns the field transforms of the sentinels.
    ///
    /// - Throws: `.invalidArgument` for array elements that a document cannot contain.
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

    /// The data as a dictionary, including the sentinels.
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
            var nested = self[name] as? [String: Any] ?? [:]
            nested.set(value, at: path.dropFirst())
            self[name] = nested
        }
    }
}
