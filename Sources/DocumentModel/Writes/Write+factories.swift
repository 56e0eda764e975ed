internal import UTF8Text

extension Write {
    /// Returns a write that sets a document's fields, and creates the document if it doesn't exist.
    ///
    /// - Parameters:
    ///   - path: The document.
    ///   - fields: The data. Dots in names have no special meaning.
    ///   - merge: The fields of an existing document to keep.
    ///   - delete: Fields to delete, when merging. With ``Merge/fields(_:)``, fields that it doesn't name are ignored.
    ///   - transforms: Transforms to apply afterward. They are not limited by ``Merge/fields(_:)``, which may name their fields.
    ///   - precondition: The condition on the current document.
    /// - Throws: ``StatusCode/invalidArgument`` for a merge field that is missing from the data, overlapping fields in the
    ///   mask, a field to delete that also has a value, or fields to delete without merging.
    public static func set(
        _ path: DocumentPath,
        _ fields: MapValue,
        merge: Merge = .none,
        delete: [FieldPath] = [],
        transforms: [FieldTransform] = [],
        precondition: Precondition = .none
    ) throws(StatusError) -> Write {
        let operation: Operation
        do throws(StatusError) {
            operation =
                switch merge {
                case .none: try replacing(fields, delete: delete)
                case .all: try merging(fields, delete: delete)
                case .fields(let mask): try merging(fields, mask: mask, delete: delete, transforms: transforms)
                }
        } catch {
            throw error.at(path)
        }
        return Write(path: path, operation: operation, transforms: transforms, precondition: precondition)
    }

    /// Returns a write that creates a document and fails if it exists.
    public static func create(_ path: DocumentPath, _ fields: MapValue, transforms: [FieldTransform] = []) -> Write {
        Write(path: path, operation: .replace(fields), transforms: transforms, precondition: .exists(false))
    }

    /// Returns a write that updates fields of a document and fails if it doesn't exist.
    ///
    /// - Parameters:
    ///   - path: The document.
    ///   - fields: Field paths and their new values. A map replaces an existing map as a whole.
    ///   - delete: Fields to delete.
    ///   - transforms: Transforms to apply afterward.
    ///   - precondition: ``Precondition/none`` means `exists(true)` here.
    /// - Throws: ``StatusCode/invalidArgument`` if there is nothing to update, if fields repeat or overlap, or if the
    ///   precondition is `exists(false)`.
    public static func update(
        _ path: DocumentPath,
        _ fields: [(FieldPath, Value)],
        delete: [FieldPath] = [],
        transforms: [FieldTransform] = [],
        precondition: Precondition = .none
    ) throws(StatusError) -> Write {
        let mask = (fields.map(\.0) + delete).sorted()
        do throws(StatusError) {
            guard precondition != .exists(false) else {
                throw StatusError(
                    .invalidArgument,
                    "An update requires an existing document, so its precondition cannot be exists: false. Use create or set."
                )
            }
            guard !mask.isEmpty || !transforms.isEmpty else {
                throw StatusError(.invalidArgument, "Expected at least one field to update, delete or transform, found none.")
            }
            try rejectOverlaps(in: mask, allowingDuplicates: false)
        } catch {
            throw error.at(path)
        }
        var data = MapValue()
        // Sorted, so that members are appended to their maps.
        for (field, value) in fields.sorted(by: { $0.0 < $1.0 }) { data.set(value, at: field) }
        return Write(
            path: path,
            operation: .patch(data, mask: mask),
            transforms: transforms,
            precondition: precondition == .none ? .exists(true) : precondition
        )
    }

    /// Returns a write that deletes a document. Without a precondition it succeeds even if the document doesn't exist.
    public static func delete(_ path: DocumentPath, precondition: Precondition = .none) -> Write {
        Write(path: path, operation: .delete, precondition: precondition)
    }
}

extension Write {
    private static func replacing(_ fields: MapValue, delete: [FieldPath]) throws(StatusError) -> Operation {
        if let field = delete.first {
            throw StatusError(
                .invalidArgument,
                "The field \(Excerpt(field.description)) cannot be deleted by a set that replaces the whole document. "
                    + "Set merge, or remove the delete.",
                field: field.description
            )
        }
        return .replace(fields)
    }

    private static func merging(_ fields: MapValue, delete: [FieldPath]) throws(StatusError) -> Operation {
        let mask = (try fields.leafPaths() + delete).sorted()
        try rejectOverlaps(in: mask, allowingDuplicates: true)
        try rejectValues(in: fields, of: delete)
        return .patch(fields, mask: mask)
    }

    private static func merging(
        _ fields: MapValue,
        mask: [FieldPath],
        delete: [FieldPath],
        transforms: [FieldTransform]
    ) throws(StatusError) -> Operation {
        let mask = mask.sorted()
        try rejectOverlaps(in: mask, allowingDuplicates: true)
        let deleted = Set(delete).intersection(mask)
        try rejectValues(in: fields, of: deleted.sorted())
        let transformed = Set(transforms.map(\.field))
        var kept: [FieldPath] = []
        for field in mask {
            if fields[field] != nil || deleted.contains(field) {
                kept.append(field)
            } else if !transformed.contains(field) {
                throw StatusError(
                    .invalidArgument,
                    "The field \(Excerpt(field.description)) is specified in your field mask but missing from your input data. "
                        + "Add it to the data, or remove it from the mask.",
                    field: field.description
                )
            }
        }
        return .patch(fields, mask: kept)
    }

    private static func rejectValues(in fields: MapValue, of deleted: [FieldPath]) throws(StatusError) {
        for field in deleted where fields[field] != nil {
            throw StatusError(
                .invalidArgument,
                "The field \(Excerpt(field.description)) has both a value and a delete. Remove one of them.",
                field: field.description
            )
        }
    }

    /// Rejects fields inside other fields of a sorted mask, where a map directly precedes its fields.
    private static func rejectOverlaps(in sorted: [FieldPath], allowingDuplicates: Bool) throws(StatusError) {
        for (outer, inner) in zip(sorted, sorted.dropFirst()) where outer.isPrefix(of: inner) {
            guard outer != inner || !allowingDuplicates else { continue }
            throw StatusError(
                .invalidArgument,
                outer == inner
                    ? "The field \(Excerpt(inner.description)) is specified twice. Specify it once."
                    : "The field \(Excerpt(inner.description)) is inside \(Excerpt(outer.description)), which is also specified. "
                        + "Specify only one of them.",
                field: inner.description
            )
        }
    }
}

extension MapValue {
    /// Returns the paths of all values except non-empty maps.
    fileprivate func leafPaths() throws(StatusError) -> [FieldPath] {
        var paths: [FieldPath] = []
        try appendLeafPaths(below: [], to: &paths)
        return paths
    }

    private func appendLeafPaths(below names: [UTF8Key], to paths: inout [FieldPath]) throws(StatusError) {
        for (name, value) in self {
            if case .map(let inner) = value, !inner.isEmpty {
                try inner.appendLeafPaths(below: names + [name], to: &paths)
            } else {
                paths.append(try FieldPath(segments: names + [name]))
            }
        }
    }
}

extension StatusError {
    /// Returns the error with the path of the document.
    func at(_ path: DocumentPath) -> StatusError {
        var error = self
        error.path = path.string
        return error
    }
}
