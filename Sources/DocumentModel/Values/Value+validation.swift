internal import UTF8Text

extension FieldPath {
    /// Validates the path as that of a document field.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the field.
    package func validate() throws(StatusError) {
        do throws(StatusError) {
            for segment in segments { try MapValue.validate(segment) }
        } catch {
            throw error.inside(self)
        }
    }

    /// The length in bytes: the names, and one byte for each separating dot.
    fileprivate var byteCount: Int {
        segments.reduce(segments.count - 1) { $0 + $1.byteCount }
    }
}

extension Value {
    /// Validates the value of a field, except for the document size.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the field.
    package func validate(at field: FieldPath) throws(StatusError) {
        try field.validate()
        do throws(StatusError) {
            try validate(level: field.segments.count - 1, pathBytes: field.byteCount + 1)
        } catch {
            throw error.inside(field)
        }
    }

    /// Validates a value at nesting level `level`. `pathBytes` is the length of the field path up to its members.
    func validate(level: Int, pathBytes: Int) throws(StatusError) {
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
                try element.validateAsElement(level: level)
            } catch {
                throw error.inside(element: index)
            }
        }
    }

    /// Validates an element of the array at a field, except for the document size.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the field of the array and the location inside this value.
    package func validateAsElement(ofArrayAt field: FieldPath) throws(StatusError) {
        do throws(StatusError) {
            try validateAsElement(level: field.segments.count)
        } catch {
            throw error.inside(field)
        }
    }

    private func validateAsElement(level: Int) throws(StatusError) {
        if case .array = self {
            throw StatusError(
                .invalidArgument,
                "An array cannot contain another array directly. Wrap the inner array in a map: [{\"items\": […]}]."
            )
        }
        // Field paths don't lead into arrays, so the path length restarts here.
        try validate(level: level, pathBytes: 0)
    }

    private static func validateDepth(_ level: Int) throws(StatusError) {
        guard level <= DocumentLimits.maximumDepth else {
            throw StatusError(
                .invalidArgument,
                "Expected at most \(DocumentLimits.maximumDepth) nested maps and arrays, found more. "
                    + "Reduce the nesting, or move the inner values to other documents."
            )
        }
    }

    private static func validateLength(of type: String, _ bytes: Int) throws(StatusError) {
        guard bytes <= DocumentLimits.maximumValueBytes else {
            throw StatusError(
                .invalidArgument,
                "Expected a \(type) of at most \(DocumentLimits.maximumValueBytes) bytes, found \(bytes). "
                    + "Split it across several documents, or store it elsewhere and keep a link."
            )
        }
    }
}
