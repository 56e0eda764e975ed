internal import StrictJSON

extension Write {
    /// Sets a document's fields, creating it if it doesn't exist.
    ///
    /// - Parameters:
    ///   - path: The document.
    ///   - fields: The data. Dots in names have no meaning here.
    ///   - merge: Which fields of an existing document stay.
    ///   - delete: Fields to delete, when merging; with ``Merge/fields(_:)`` only those count that it names.
    ///   - transforms: Computed fields. ``Merge/fields(_:)`` may name these too; it does not limit them.
    ///   - precondition: What must be so before.
    /// - Throws: ``StatusCode/invalidArgument`` for a merge field that is not in the data, a field of the mask inside another
    ///   one, a field to delete that has a value, or fields to delete without merging.
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

    /// Creates a document; the write fails when it exists.
    public static func create(_ path: DocumentPath, _ fields: MapValue, transforms: [FieldTransform] = []) -> Write {
        Write(path: path, operation: .replace(fields), transforms: transforms, precondition: .exists(false))
    }

    /// Sets single fields of an existing document; the write fails when it doesn't exist.
    ///
    /// - Parameters:
    ///   - path: The document.
    ///   - fields: Fields by path, and their values. A map replaces a map that is there.
    ///   - delete: Fields to delete.
    ///   - transforms: Computed fields.
    ///   - precondition: ``Precondition/none`` stands for `exists(true)` here.
    /// - Throws: ``StatusCode/invalidArgument`` when there is nothing to do, a field is named twice or lies inside another
    ///   one, or the precondition is `exists(false)`.
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
                    "An update needs a document that exists, so its precondition can't be exists: false. Use create or set."
                )
            }
            guard !mask.isEmpty || !transforms.isEmpty else {
                throw StatusError(.invalidArgument, "Expected at least one field to update, delete or transform, found none.")
            }
            try refuseNesting(in: mask, andRepetition: true)
        } catch {
            throw error.at(path)
        }
        var data = MapValue()
        // In order, so that members are added at the end of their maps.
        for (field, value) in fields.sorted(by: { $0.0 < $1.0 }) { data.set(value, at: field) }
        return Write(
            path: path,
            operation: .patch(data, mask: mask),
            transforms: transforms,
            precondition: precondition == .none ? .exists(true) : precondition
        )
    }

    /// Deletes a document; without a precondition also when it doesn't exist.
    public static func delete(_ path: DocumentPath, precondition: Precondition = .none) -> Write {
        Write(path: path, operation: .delete, precondition: precondition)
    }
}

extension Write {
    private static func replacing(_ fields: MapValue, delete: [FieldPath]) throws(StatusError) -> Operation {
        if let field = delete.first {
            throw StatusError(
                .invalidArgument,
                "Expected no fields to delete when the whole document is set, found \(Excerpt(field.description)). "
                    + "Merge, or leave the field out.",
                field: field.description
            )
        }
        return .replace(fields)
    }

    private static func merging(_ fields: MapValue, delete: [FieldPath]) throws(StatusError) -> Operation {
        let mask = (try fields.leafPaths() + delete).sorted()
        try refuseNesting(in: mask, andRepetition: false)
        try refuseValues(in: fields, of: delete)
        return .patch(fields, mask: mask)
    }

    private static func merging(
        _ fields: MapValue,
        mask: [FieldPath],
        delete: [FieldPath],
        transforms: [FieldTransform]
    ) throws(StatusError) -> Operation {
        let mask = mask.sorted()
        try refuseNesting(in: mask, andRepetition: false)
        let deleted = Set(delete).intersection(mask)
        try refuseValues(in: fields, of: deleted.sorted())
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

    private static func refuseValues(in fields: MapValue, of deleted: [FieldPath]) throws(StatusError) {
        for field in deleted where fields[field] != nil {
            throw StatusError(
                .invalidArgument,
                "The field \(Excerpt(field.description)) is to be deleted and has a value as well. Remove one of the two.",
                field: field.description
            )
        }
    }

    /// In the order of paths a map comes right before the fields inside it.
    private static func refuseNesting(in sorted: [FieldPath], andRepetition: Bool) throws(StatusError) {
        for (outer, inner) in zip(sorted, sorted.dropFirst()) where outer.isPrefix(of: inner) {
            guard outer != inner || andRepetition else { continue }
            throw StatusError(
                .invalidArgument,
                outer == inner
                    ? "The field \(Excerpt(inner.description)) is named twice. Name it once."
                    : "The field \(Excerpt(inner.description)) lies inside \(Excerpt(outer.description)), which is named as well. "
                        + "Name only one of them.",
                field: inner.description
            )
        }
    }
}

extension MapValue {
    /// The paths of all values that are no maps, and of all empty maps.
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
    /// The same error with the path of the document.
    func at(_ path: DocumentPath) -> StatusError {
        var error = self
        error.path = path.string
        return error
    }
}
