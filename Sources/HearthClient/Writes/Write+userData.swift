internal import DocumentModel

extension Write {
    /// Creates a set from user data.
    static func set(_ document: DocumentReference, _ data: DocumentData, merge: Merge = .none) throws(StatusError) -> Write {
        try document.firestore.checkReferences(to: data.databases)
        var fields = data.fields
        var transforms = try data.transforms()
        switch merge {
        case .none: break
        case .all:
            // A map that is empty only because it contains sentinels must not replace the existing map.
            for (path, _) in data.sentinels { fields.removeEmptyMaps(around: path) }
        case .fields(let mask):
            transforms.removeAll { transform in !mask.contains { $0.isPrefix(of: transform.field) } }
        }
        return try .set(document.documentPath, fields, merge: merge, delete: data.deleted, transforms: transforms)
    }

    /// Creates an update from user data: values by field path.
    static func update(_ document: DocumentReference, _ fields: [AnyHashable: Any]) throws(StatusError) -> Write {
        var reader = UserDataReader(allowsSentinels: true)
        var values: [(FieldPath, Value)] = []
        var named: Set<FieldPath> = []
        for (name, value) in fields {
            let field = try FieldPath(any: name.base)
            named.insert(field)
            if let value = try reader.value(value, at: field) { values.append((field, value)) }
        }
        try document.firestore.checkReferences(to: reader.databases)
        let data = DocumentData(fields: MapValue(), sentinels: reader.sentinels, databases: reader.databases)
        if let field = data.deleted.first(where: { !named.contains($0) }) {
            throw StatusError(
                .invalidArgument,
                "FieldValue.delete() can only appear at the top level of your update data. Use a field path as key.",
                path: document.path,
                field: field.description
            )
        }
        return try .update(document.documentPath, values, delete: data.deleted, transforms: data.transforms())
    }
}

extension Write.Merge {
    /// Creates a merge of fields, each given by a `String` or ``FieldPath``.
    static func fields(any fields: [Any]) throws(StatusError) -> Write.Merge {
        .fields(try fields.map { field throws(StatusError) in try FieldPath(any: field) })
    }
}

extension MapValue {
    fileprivate mutating func removeEmptyMaps(around path: FieldPath) {
        var names = path.segments.dropLast()
        while !names.isEmpty, let parent = try? FieldPath(segments: Array(names)) {
            guard case .map(let map)? = self[parent], map.isEmpty else { return }
            remove(at: parent)
            names.removeLast()
        }
    }
}
