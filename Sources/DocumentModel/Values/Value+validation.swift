internal import StrictJSON

extension FieldPath {
    /// Checks that a document may have a field here.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the field.
    package func validate() throws(StatusError) {
        do throws(StatusError) {
            for segment in segments { try MapValue.validate(segment) }
        } catch {
            throw error.inside(self)
        }
    }

    /// The length as it counts: the bytes of the names and one for each dot.
    fileprivate var byteCount: Int {
        segments.reduce(segments.count - 1) { $0 + $1.byteCount }
    }
}

extension Value {
    /// Checks that a document may have this value at a field, by all rules but the size of the whole.
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

    /// Checks a value that stands inside `level` maps and arrays; `pathBytes` is where the names inside it begin.
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

    /// Checks that an array at a field may hold this value, by all rules but the size of the whole.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the field of the array, and the place inside this value.
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
                "An array can't hold an array directly. Put the inner array into a map: [{\"items\": […]}]."
            )
        }
        // Field paths do not lead into arrays, so the names in here begin one of their own.
        try validate(level: level, pathBytes: 0)
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
