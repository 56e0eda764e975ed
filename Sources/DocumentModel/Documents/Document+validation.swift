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
            try fields.validate(level: 0, pathBytes: 0)
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
    /// Checks the members of a map that stands inside `level` maps and arrays, at a field path of `pathBytes`.
    fileprivate func validate(level: Int, pathBytes: Int) throws(StatusError) {
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

    private static func validate(_ name: UTF8Key) throws(StatusError) {
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

extension Value {
    /// Checks a value that stands inside `level` maps and arrays; `pathBytes` is where the names inside it begin.
    fileprivate func validate(level: Int, pathBytes: Int) throws(StatusError) {
        switch self {
        case .null, .boolean, .integer, .double, .timestamp, .geoPoint:
            break
        case .string(let value):
            try Self.validateLength(of: "string", value.utf8.count)
        case .bytes(let value):
            try Self.validateLength(of: "bytes value", value.count)
        case .reference(let value):
            try value.validateLimits()
        case .vector(let value):
            guard value.count <= DocumentLimits.maximumVectorDimensions else {
                throw StatusError(
                    .invalidArgument,
                    "Expected a vector of at most \(DocumentLimits.maximumVectorDimensions) dimensions, found \(value.count)."
                )
            }
        case .map(let value):
            try Self.validateDepth(level + 1)
            try value.validate(level: level + 1, pathBytes: pathBytes)
        case .array(let value):
            try Self.validateDepth(level + 1)
            try Self.validate(value, level: level + 1)
        }
    }

    private static func validate(_ elements: [Value], level: Int) throws(StatusError) {
        for (index, element) in elements.enumerated() {
            do throws(StatusError) {
                if case .array = element {
                    throw StatusError(
                        .invalidArgument,
                        "An array can't hold an array directly. Put the inner array into a map: [{\"items\": […]}]."
                    )
                }
                // Field paths do not lead into arrays, so the names in here begin one of their own.
                try element.validate(level: level, pathBytes: 0)
            } catch {
                throw error.inside(element: index)
            }
        }
    }

    private static func validateDepth(_ level: Int) throws(StatusError) {
        guard level <= DocumentLimits.maximumDepth else {
            throw StatusError(
                .invalidArgument,
                "Expected at most \(DocumentLimits.maximumDepth) maps and arrays inside each other, found more. "
                    + "Nest less deeply, or move the inner values to other documents."
            )
        }
    }

    private static func validateLength(of type: String, _ bytes: Int) throws(StatusError) {
        guard bytes <= DocumentLimits.maximumValueBytes else {
            throw StatusError(
                .invalidArgument,
                "Expected a \(type) of at most \(DocumentLimits.maximumValueBytes) bytes, found \(bytes). "
                    + "Divide it among several documents, or store it elsewhere and keep a link."
            )
        }
    }
}
