internal import StrictJSON
internal import UTF8Text

extension Value {
    /// Decodes a tagged value at nesting level `level`.
    init(_ tag: ValueTag, _ payload: JSONNode, level: Int, budget: inout DocumentByteBudget) throws(ValueDecodingError) {
        switch tag {
        case .double: self = .double(try Double(named: payload))
        case .timestamp: self = .timestamp(try Self.timestamp(payload))
        case .bytes: self = .bytes(try Self.bytes(payload))
        case .reference: self = .reference(try Self.reference(payload))
        case .geoPoint: self = .geoPoint(try Self.geoPoint(payload))
        case .vector: self = .vector(try Self.vector(payload))
        case .map: self = .map(try MapValue(tagged: payload, level: level + 1, budget: &budget))
        }
    }

    private static func timestamp(_ node: JSONNode) throws(ValueDecodingError) -> Timestamp {
        guard let text = node.string else {
            throw ValueDecodingError(
                node,
                expected: "a string in RFC 3339 format after $timestamp, such as \"2014-09-09T08:00:47.5Z\""
            )
        }
        return try node.mappingErrors { () throws(StatusError) in try Timestamp(rfc3339: text) }
    }

    private static func bytes(_ node: JSONNode) throws(ValueDecodingError) -> [UInt8] {
        guard let text = node.string else { throw ValueDecodingError(node, expected: "a string in base64 after $bytes") }
        guard let bytes = Base64.standard.decode(text.utf8) else {
            throw ValueDecodingError(
                node,
                "Expected canonical base64 after $bytes (A-Z, a-z, 0-9, + and /, padded with = to a multiple of four, "
                    + "without whitespace or non-zero trailing bits), found \(node.summary)."
            )
        }
        return bytes
    }

    private static func reference(_ node: JSONNode) throws(ValueDecodingError) -> DocumentPath {
        guard let text = node.string else {
            throw ValueDecodingError(
                node,
                expected: "a document path as a string after $reference, such as \"books/hitchhiker\""
            )
        }
        return try node.mappingErrors { () throws(StatusError) in try DocumentPath(text) }
    }

    private static func geoPoint(_ node: JSONNode) throws(ValueDecodingError) -> GeoPoint {
        guard node.count == 2, let latitude = node["latitude"], let longitude = node["longitude"] else {
            throw ValueDecodingError(
                node,
                "Expected an object with exactly latitude and longitude after $geoPoint, "
                    + "such as {\"latitude\": 53.55, \"longitude\": 9.98}."
            )
        }
        let north = try Double(coordinate: latitude)
        let east = try Double(coordinate: longitude)
        return try node.mappingErrors { () throws(StatusError) in try GeoPoint(validatingLatitude: north, longitude: east) }
    }

    private static func vector(_ node: JSONNode) throws(ValueDecodingError) -> [Double] {
        guard let elements = node.elements else { throw ValueDecodingError(node, expected: "an array of numbers after $vector") }
        guard node.count <= DocumentLimits.maximumVectorDimensions else {
            throw ValueDecodingError(
                node,
                "Expected a vector of at most \(DocumentLimits.maximumVectorDimensions) dimensions, found \(node.count)."
            )
        }
        var vector: [Double] = []
        vector.reserveCapacity(node.count)
        for element in elements {
            do throws(ValueDecodingError) {
                vector.append(try Double(dimension: element))
            } catch {
                throw error.inside(element: vector.count)
            }
        }
        return vector
    }
}

extension Double {
    /// Decodes the name of a double that JSON numbers cannot represent.
    fileprivate init(named node: JSONNode) throws(ValueDecodingError) {
        let named: [UTF8Key: Double] = ["NaN": .nan, "Infinity": .infinity, "-Infinity": -.infinity]
        guard let value = node.string.flatMap({ named[UTF8Key($0)] }) else {
            throw ValueDecodingError(
                node,
                "Expected \"NaN\", \"Infinity\" or \"-Infinity\" after $double, found \(node.summary). "
                    + "Write any other double as a number with a fraction or exponent."
            )
        }
        self = value
    }

    /// Decodes a number literal, or returns `nil` for any other node.
    fileprivate init?(literal node: JSONNode) throws(ValueDecodingError) {
        switch node.number {
        case .integer(let value)?: self = Double(value)
        case .double(let value)?: self = value
        case .outOfRange?: throw ValueDecodingError(outOfRange: node)
        case nil: return nil
        }
    }

    fileprivate init(coordinate node: JSONNode) throws(ValueDecodingError) {
        guard let value = try Double(literal: node) else { throw ValueDecodingError(node, expected: "a number of degrees") }
        self = value
    }

    /// Decodes an element of a vector, which may be a tagged NaN or infinity.
    fileprivate init(dimension node: JSONNode) throws(ValueDecodingError) {
        if let value = try Double(literal: node) {
            self = value
        } else if node.count == 1, let name = node[ValueTag.double.key] {
            try self.init(named: name)
        } else {
            throw ValueDecodingError(node, expected: "a number")
        }
    }
}

extension ValueDecodingError {
    /// Creates an error for a literal outside the range of integers or doubles.
    init(outOfRange node: JSONNode) {
        let isDouble = node.rawBytes.contains { [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")].contains($0) }
        if isDouble {
            self.init(
                node,
                "Expected a double of at most \(Double.greatestFiniteMagnitude), found \(node.summary). "
                    + "Write {\"$double\": \"Infinity\"} for infinity."
            )
        } else {
            self.init(
                node,
                "Expected an integer from \(Int64.min) to \(Int64.max), found \(node.summary). "
                    + "Write it with a fraction or exponent to store it as a double."
            )
        }
    }
}

extension JSONNode {
    /// Converts an error thrown by `decode` into one at this node.
    fileprivate func mappingErrors<Result>(_ decode: () throws(StatusError) -> Result) throws(ValueDecodingError) -> Result {
        do throws(StatusError) {
            return try decode()
        } catch {
            // Keeps only the message: the path of a reference is not the location of the error.
            throw ValueDecodingError(self, error.message)
        }
    }
}
