internal import StrictJSON

extension Value {
    /// Reads what stands behind a tag; the tagged value itself stands inside `level` maps and arrays.
    init(_ tag: ValueTag, _ payload: JSONNode, level: Int, room: inout DocumentRoom) throws(JSONFormFault) {
        switch tag {
        case .double: self = .double(try Double(named: payload))
        case .timestamp: self = .timestamp(try Self.timestamp(payload))
        case .bytes: self = .bytes(try Self.bytes(payload))
        case .reference: self = .reference(try Self.reference(payload))
        case .geoPoint: self = .geoPoint(try Self.geoPoint(payload))
        case .vector: self = .vector(try Self.vector(payload))
        case .map: self = .map(try MapValue(tagged: payload, level: level + 1, room: &room))
        }
    }

    private static func timestamp(_ node: JSONNode) throws(JSONFormFault) -> Timestamp {
        guard let text = node.string else {
            throw JSONFormFault(node, expected: "a string in RFC 3339 form after $timestamp, such as \"2014-09-09T08:00:47.5Z\"")
        }
        return try node.explaining { () throws(StatusError) in try Timestamp(rfc3339: text) }
    }

    private static func bytes(_ node: JSONNode) throws(JSONFormFault) -> [UInt8] {
        guard let text = node.string else { throw JSONFormFault(node, expected: "a string in base64 after $bytes") }
        guard let bytes = Base64.standard.decode(text.utf8) else {
            throw JSONFormFault(
                node,
                "Expected canonical base64 after $bytes (A-Z, a-z, 0-9, + and /, padded with = to a multiple of four, "
                    + "without white space and stray bits), found \(node.summary)."
            )
        }
        return bytes
    }

    private static func reference(_ node: JSONNode) throws(JSONFormFault) -> DocumentPath {
        guard let text = node.string else {
            throw JSONFormFault(
                node,
                expected: "the path of a document as a string after $reference, such as \"books/hitchhiker\""
            )
        }
        return try node.explaining { () throws(StatusError) in try DocumentPath(text) }
    }

    private static func geoPoint(_ node: JSONNode) throws(JSONFormFault) -> GeoPoint {
        guard node.count == 2, let latitude = node["latitude"], let longitude = node["longitude"] else {
            throw JSONFormFault(
                node,
                "Expected an object of exactly latitude and longitude after $geoPoint, "
                    + "such as {\"latitude\": 53.55, \"longitude\": 9.98}."
            )
        }
        let north = try Double(coordinate: latitude)
        let east = try Double(coordinate: longitude)
        return try node.explaining { () throws(StatusError) in try GeoPoint(validatingLatitude: north, longitude: east) }
    }

    private static func vector(_ node: JSONNode) throws(JSONFormFault) -> [Double] {
        guard let elements = node.elements else { throw JSONFormFault(node, expected: "an array of numbers after $vector") }
        guard node.count <= DocumentLimits.maximumVectorDimensions else {
            throw JSONFormFault(
                node,
                "Expected a vector of at most \(DocumentLimits.maximumVectorDimensions) dimensions, found \(node.count)."
            )
        }
        var vector: [Double] = []
        vector.reserveCapacity(node.count)
        for element in elements {
            do throws(JSONFormFault) {
                vector.append(try Double(dimension: element))
            } catch {
                throw error.inside(element: vector.count)
            }
        }
        return vector
    }
}

extension Double {
    /// What a JSON number can't say, by name.
    fileprivate init(named node: JSONNode) throws(JSONFormFault) {
        let named: [UTF8Key: Double] = ["NaN": .nan, "Infinity": .infinity, "-Infinity": -.infinity]
        guard let value = node.string.flatMap({ named[UTF8Key($0)] }) else {
            throw JSONFormFault(
                node,
                "Expected \"NaN\", \"Infinity\" or \"-Infinity\" after $double, found \(node.summary). "
                    + "Write any other double as a number with a fraction or exponent."
            )
        }
        self = value
    }

    /// A number, with or without a fraction.
    fileprivate init?(literal node: JSONNode) throws(JSONFormFault) {
        switch node.number {
        case .integer(let value)?: self = Double(value)
        case .double(let value)?: self = value
        case .outOfRange?: throw JSONFormFault(outOfRange: node)
        case nil: return nil
        }
    }

    fileprivate init(coordinate node: JSONNode) throws(JSONFormFault) {
        guard let value = try Double(literal: node) else { throw JSONFormFault(node, expected: "a number of degrees") }
        self = value
    }

    /// A vector may hold NaN and the infinities, in the form that they have elsewhere.
    fileprivate init(dimension node: JSONNode) throws(JSONFormFault) {
        if let value = try Double(literal: node) {
            self = value
        } else if node.count == 1, let name = node[ValueTag.double.key] {
            try self.init(named: name)
        } else {
            throw JSONFormFault(node, expected: "a number")
        }
    }
}

extension JSONFormFault {
    /// A literal that is beyond the integers or the doubles.
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
    /// Puts this place to the error of a value that its own type refuses.
    fileprivate func explaining<Result>(_ read: () throws(StatusError) -> Result) throws(JSONFormFault) -> Result {
        do throws(StatusError) {
            return try read()
        } catch {
            // Only the text says what is wrong; the path of a reference is not the place of the fault.
            throw JSONFormFault(self, error.message)
        }
    }
}
