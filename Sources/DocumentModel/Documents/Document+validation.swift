internal import UTF8Text

extension Document {
    /// Validates the fields of a document to be stored at `path`.
    ///
    /// Checks the length and depth of the path, field names at every level, the nesting depth, arrays directly in arrays,
    /// the length of strings, bytes, vectors, references and field paths, and the document size.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the document's path and the invalid field, if any.
    public static func validate(_ fields: MapValue, at path: DocumentPath) throws(StatusError) {
        do throws(StatusError) {
            try path.validateLimits()
            // Before the size is computed, to bound the depth of its recursion.
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
    /// Validates the fields of a document, except for the document size.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the field.
    package func validate() throws(StatusError) {
        try validate(level: 0, pathBytes: 0)
    }

    /// Validates the members of a map at nesting level `level`, whose field path is `pathBytes` bytes long.
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
                "The field name \(Excerpt(name.string)) is reserved, like all names that begin and end with two underscores. "
                    + "Use another name."
            )
        }
    }
}
