public import StrictJSON
internal import UTF8Text

extension Value {
    /// Decodes a value from its JSON representation.
    ///
    /// JSON's own types map to the corresponding values; a number without a fraction or exponent is an integer, any other a
    /// double. An object whose only member is one of the tags `$double`, `$timestamp`, `$bytes`, `$reference`, `$geoPoint`,
    /// `$vector` and `$map` is a tagged value. A map with names that begin with `$` must be tagged with `$map`.
    ///
    /// Validates the representation, the nesting depth, and that the size is below twice the maximum document size. The other
    /// limits are validated by ``Document/validate(_:at:)``.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the path inside the value as the error's `field`, and the location in the
    ///   JSON.
    public init(json node: JSONNode) throws(StatusError) {
        do throws(ValueDecodingError) {
            var budget = DocumentByteBudget()
            try self.init(decoding: node, level: 0, budget: &budget)
        } catch {
            throw error.located
        }
    }

    /// Decodes a value at nesting level `level`.
    init(decoding node: JSONNode, level: Int, budget: inout DocumentByteBudget) throws(ValueDecodingError) {
        if let string = node.string {
            self = .string(string)
        } else if let number = node.number {
            self = try Value(number: number, of: node)
        } else if let boolean = node.boolean {
            self = .boolean(boolean)
        } else if let elements = node.elements {
            self = .array(try Self.decode(elements, of: node, level: level + 1, budget: &budget))
        } else if let members = node.members {
            if let (tag, payload) = try node.tagged() {
                self = try Value(tag, payload, level: level, budget: &budget)
            } else {
                self = .map(try MapValue(decoding: members, of: node, level: level + 1, budget: &budget))
            }
        } else {
            self = .null
        }
        try budget.consume(shallowSize, for: node)
    }

    private init(number: JSONNumber, of node: JSONNode) throws(ValueDecodingError) {
        switch number {
        case .integer(let value): self = .integer(value)
        case .double(let value): self = .double(value)
        case .outOfRange: throw ValueDecodingError(outOfRange: node)
        }
    }

    private static func decode(
        _ elements: JSONNode.Elements,
        of node: JSONNode,
        level: Int,
        budget: inout DocumentByteBudget
    ) throws(ValueDecodingError) -> [Value] {
        try node.checkDepth(level)
        var values: [Value] = []
        values.reserveCapacity(Swift.min(node.count, 1_024))
        for element in elements {
            do throws(ValueDecodingError) {
                // Arrays directly in arrays are rejected later; until then, each counts as one byte.
                if element.kind == .array { try budget.consume(1, for: element) }
                values.append(try Value(decoding: element, level: level, budget: &budget))
            } catch {
                throw error.inside(element: values.count)
            }
        }
        return values
    }
}

extension MapValue {
    /// Decodes the fields of a document: an object, or `{"$map": {…}}` if a field name begins with `$`.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the path inside the fields as the error's `field`, and the location in the
    ///   JSON.
    public init(json node: JSONNode) throws(StatusError) {
        do throws(ValueDecodingError) {
            guard let members = node.members else { throw ValueDecodingError(node, expected: "an object of fields") }
            var budget = DocumentByteBudget()
            switch try node.tagged() {
            case nil:
                try self.init(decoding: members, of: node, level: 0, budget: &budget)
            case (.map, let payload)?:
                try self.init(tagged: payload, level: 0, budget: &budget)
            case (let tag, _)?:
                throw ValueDecodingError(node, "Expected an object of fields, found a value tagged \(tag.key).")
            }
        } catch {
            throw error.located
        }
    }

    /// Decodes the members of an untagged map at nesting level `level`.
    init(
        decoding members: some Sequence<(key: UTF8Key, value: JSONNode)>,
        of node: JSONNode,
        level: Int,
        budget: inout DocumentByteBudget
    ) throws(ValueDecodingError) {
        try self.init(decoding: members, of: node, level: level, budget: &budget, allowingDollar: false)
    }

    /// Decodes the payload of the tag `$map`, whose names may begin with `$`.
    init(tagged payload: JSONNode, level: Int, budget: inout DocumentByteBudget) throws(ValueDecodingError) {
        guard let members = payload.members else { throw ValueDecodingError(payload, expected: "an object after $map") }
        try self.init(decoding: members, of: payload, level: level, budget: &budget, allowingDollar: true)
    }

    private init(
        decoding members: some Sequence<(key: UTF8Key, value: JSONNode)>,
        of node: JSONNode,
        level: Int,
        budget: inout DocumentByteBudget,
        allowingDollar: Bool
    ) throws(ValueDecodingError) {
        try node.checkDepth(level)
        var values: [(key: UTF8Key, value: Value)] = []
        values.reserveCapacity(Swift.min(members.underestimatedCount, 1_024))
        for (key, member) in members {
            guard allowingDollar || !key.beginsWithDollar else { throw ValueDecodingError(misplacedTag: key, of: member) }
            do throws(ValueDecodingError) {
                try budget.consume(key.size, for: member)
                values.append((key, try Value(decoding: member, level: level, budget: &budget)))
            } catch {
                throw error.inside(field: key)
            }
        }
        self.init(values)
    }
}

extension JSONNode {
    /// Returns the tag and payload of an object with a single member whose name begins with `$`, or `nil` for any other node.
    fileprivate func tagged() throws(ValueDecodingError) -> (tag: ValueTag, payload: JSONNode)? {
        guard count == 1, var members, let (key, payload) = members.next(), key.beginsWithDollar else { return nil }
        guard let tag = ValueTag(key) else { throw ValueDecodingError(misplacedTag: key, of: payload) }
        return (tag, payload)
    }

    /// Rejects a map or array beyond the maximum nesting depth, before decoding its contents.
    fileprivate func checkDepth(_ level: Int) throws(ValueDecodingError) {
        guard level <= DocumentLimits.maximumDepth else {
            throw ValueDecodingError(
                self,
                "Expected at most \(DocumentLimits.maximumDepth) nested maps and arrays, found more. "
                    + "Reduce the nesting, or move the inner values to other documents."
            )
        }
    }
}

extension ValueDecodingError {
    fileprivate init(misplacedTag key: UTF8Key, of member: JSONNode) {
        if ValueTag(key) != nil {
            self.init(
                member,
                "Expected the tag \(key) to be the only member of its object. Remove the others, "
                    + "or, if this is a map with such a name, write it as {\"$map\": {…}}."
            )
        } else {
            let known = ValueTag.allCases.map(\.key.string).joined(separator: ", ")
            self.init(
                member,
                "Expected a known tag (\(known)), found \(Excerpt(key.string)). "
                    + "If this is a map with a name that begins with $, write it as {\"$map\": {…}}."
            )
        }
    }
}

/// The number of bytes that may still be decoded for a document.
///
/// JSON of a few megabytes can encode millions of values. Decoding stops at twice the maximum document size; a smaller document
/// is decoded completely, so that the error can include its path and size.
struct DocumentByteBudget {
    private var bytes = 2 * DocumentLimits.maximumDocumentBytes

    /// Subtracts the size of a value, as computed by ``Document/size(of:at:)``.
    mutating func consume(_ count: Int, for node: JSONNode) throws(ValueDecodingError) {
        bytes -= count
        guard bytes >= 0 else {
            throw ValueDecodingError(
                node,
                "Expected a document of at most \(DocumentLimits.maximumDocumentBytes) bytes, found more than twice that size. "
                    + "Move some fields to other documents, for example to a subcollection."
            )
        }
    }
}
