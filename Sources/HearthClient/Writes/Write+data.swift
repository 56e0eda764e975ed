internal import DocumentModel
internal import StrictJSON

extension Write {
    /// Sets a document, as users state it.
    static func set(_ document: DocumentReference, _ data: DocumentData, merge: Merge = .none) throws(StatusError) -> Write {
        try document.firestore.check(data.origins)
        var fields = data.fields
        var transforms = try data.transforms()
        switch merge {
        case .none: break
        case .all:
            // A map that is empty just because the server fills in what it holds must not replace the one that is there.
            for (path, _) in data.sentinels { fields.removeEmptyMaps(around: path) }
        case .fields(let mask):
            transforms.removeAll { transform in !mask.contains { $0.isPrefix(of: transform.field) } }
        }
        return try .set(document.documentPath, fields, merge: merge, delete: data.deleted, transforms: transforms)
    }

    /// Updates a document, as users state it: values by field path.
    static func update(_ document: DocumentReference, _ fields: [AnyHashable: Any]) throws(StatusError) -> Write {
        var reader = DictionaryReader(permitsSentinels: true)
        var values: [(FieldPath, Value)] = []
        var named: Set<FieldPath> = []
        for (name, value) in fields {
            let field = try FieldPath(any: name.base)
            named.insert(field)
            if let value = try reader.value(value, at: field) { values.append((field, value)) }
        }
        try document.firestore.check(reader.origins)
        let data = DocumentData(fields: MapValue(), sentinels: reader.sentinels, origins: reader.origins)
        if let field = data.deleted.first(where: { !named.contains($0) }) {
            throw StatusError(
                .invalidArgument,
                "FieldValue.delete() can only appear at the top level of your update data; name the field by its path.",
                path: document.path,
                field: field.description
            )
        }
        return try .update(document.documentPath, values, delete: data.deleted, transforms: data.transforms())
    }
}

extension Write.Merge {
    /// The fields that users name, each by a `String` or ``FieldPath``.
    static func fields(any fields: [Any]) throws(StatusError) -> Write.Merge {
        .fields(try fields.map { field throws(StatusError) in try FieldPath(any: field) })
    }
}

extension MapValue {
    fileprivate mutating func removeEmptyMaps(around path: FieldPath) {
        var names = path.segments.dropLast()
        while !names.isEmpty, let outer = try? FieldPath(segments: Array(names)) {
            guard case .map(let map)? = self[outer], map.isEmpty else { return }
            remove(at: outer)
            names.removeLast()
        }
    }
}
