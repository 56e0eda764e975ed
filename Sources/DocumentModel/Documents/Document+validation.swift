internal import StrictJSON

extension Document {
    /// Checks that a document with these fields may be stored at `path`.
    ///
    /// Looks at the length and depth of the path, every field name at every depth, the depth of the values, arrays
    /// directly in arrays, the length of strings, bytes, vectors, references and field paths, and the size of the whole.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the document's path and, when one is at fault, the field.
    public static func validate(_ fields: MapValue, at path: DocumentPath) throws(StatusError) {
        do throws(StatusError) {
            try path.validateLimits()
            // First the rules, which bound the depth of everything that recurs afterwards.
            try fields.validate()
            let size = size(of: fields, at: path)
            guard size <= DocumentLimits.maximumDocumentBytes else {
                throw StatusError(
                    .invalidArgument,
                    "Expected a document of at most \(DocumentLimits.maximumDocumentBytes) bytes, found \(size). "
                        + "Move some fields to other documents, for example to a subcollection."
                )
            }
        } catch {
            var error = error
            error.path = path.string
            throw error
        }
    }
}

extension MapValue {
    /// Checks the fields of a document by all rules but the size of the whole.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the field.
    package func validate() throws(StatusError) {
        try validate(level: 0, pathBytes: 0)
    }

    /// Checks the members of a map that stands inside `level` maps and arrays, at a field path of `pathBytes`.
    func validate(level: Int, pathBytes: Int) throws(StatusError) {
        for (name, value) in self {
            do throws(StatusError) {
                try Self.validate(name)
                try FieldPath.validateLength(pathBytes + name.byteCount)
                try value.validate(level: level, pathBytes: pathBytes + name.byteCount + 1)
            } catch {
                throw error.inside(field: name)
            }
        }
    }

    static func validate(_ name: UTF8Key) throws(StatusError) {
        guard name.byteCount > 0 else {
            throw StatusError(.invalidArgument, "Expected a field name of at least one byte, found an empty one.")
        }
        guard name.byteCount <= DocumentLimits.maximumNameBytes else {
            throw StatusError(
                .invalidArgument,
                "Expected a field name of at most \(DocumentLimits.maximumNameBytes) bytes, found \(name.byteCount): "
                    + "\(Excerpt(name.string)). Shorten it."
            )
        }
        guard !Identifier.isReserved(name.utf8) else {
            throw StatusError(
                .invalidArgument,
                "The field name \(Excerpt(name.string)) is reserved, as is all that begins and ends with two underscores. "
                    + "Use another."
            )
        }
    }
}
