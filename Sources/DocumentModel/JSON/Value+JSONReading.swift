public import StrictJSON

extension Value {
    /// Reads a value from its JSON form.
    ///
    /// JSON's own kinds stand for themselves; a number is an integer without fraction and exponent, else a double. An
    /// object whose only member is one of the tags `$double`, `$timestamp`, `$bytes`, `$reference`, `$geoPoint`, `$vector`
    /// and `$map` is the value that the tag says; names of a map that begin with `$` stand in `$map` only.
    /// The form is checked, that maps and arrays are at most 20 levels deep, and that the value is less than twice as large
    /// as a document may be; the other rules for documents are checked by ``Document/validate(_:at:)``.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the place inside the value as the error's `field`, and in its text.
    public init(json node: JSONNode) throws(StatusError) {
        do throws(JSONFormFault) {
            var room = DocumentRoom()
            try self.init(reading: node, level: 0, room: &room)
        } catch {
            throw error.located
        }
    }

    /// Reads a value that stands inside `level` maps and arrays.
    init(reading node: JSONNode, level: Int, room: inout DocumentRoom) throws(JSONFormFault) {
        if let string = node.string {
            self = .string(string)
        } else if let number = node.number {
            self = try Value(number: number, of: node)
        } else if let boolean = node.boolean {
            self = .boolean(boolean)
        } else if let elements = node.elements {
            self = .array(try Self.read(elements, of: node, level: level + 1, room: &room))
        } else if let members = node.members {
            if let (tag, payload) = try node.tagged() {
                self = try Value(tag, payload, level: level, room: &room)
            } else {
                self = .map(try MapValue(reading: members, of: node, level: level + 1, room: &room))
            }
        } else {
            self = .null
        }
        try room.take(ownSize, for: node)
    }

    private init(number: JSONNumber, of node: JSONNode) throws(JSONFormFault) {
        switch number {
        case .integer(let value): self = .integer(value)
        case .double(let value): self = .double(value)
        case .outOfRange: throw JSONFormFault(outOfRange: node)
        }
    }

    private static func read(
        _ elements: JSONNode.Elements,
        of node: JSONNode,
        level: Int,
        room: inout DocumentRoom
    ) throws(JSONFormFault) -> [Value] {
        try node.checkDepth(level)
        var values: [Value] = []
        values.reserveCapacity(Swift.min(node.count, 1_024))
        for element in elements {
            do throws(JSONFormFault) {
                // Arrays directly in arrays are refused later, and would cost nothing until then.
                if element.kind == .array { try room.take(1, for: element) }
                values.append(try Value(reading: element, level: level, room: &room))
            } catch {
                throw error.inside(element: values.count)
            }
        }
        return values
    }
}

extension MapValue {
    /// Reads the fields of a document from their JSON form: an object, or `{"$map": {…}}` where a field name begins with `$`.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the place inside the fields as the error's `field`, and in its text.
    public init(json node: JSONNode) throws(StatusError) {
        do throws(JSONFormFault) {
            guard let members = node.members else { throw JSONFormFault(node, expected: "an object of fields") }
            var room = DocumentRoom()
            switch try node.tagged() {
            case nil:
                try self.init(reading: members, of: node, level: 0, room: &room)
            case (.map, let payload)?:
                try self.init(tagged: payload, level: 0, room: &room)
            case (let tag, _)?:
                throw JSONFormFault(node, "Expected an object of fields, found a single value tagged \(tag.key).")
            }
        } catch {
            throw error.located
        }
    }

    /// Reads the members of an untagged map that stands inside `level` maps and arrays, itself included.
    init(
        reading members: some Sequence<(key: UTF8Key, value: JSONNode)>,
        of node: JSONNode,
        level: Int,
        room: inout DocumentRoom
    ) throws(JSONFormFault) {
        try self.init(reading: members, of: node, level: level, room: &room, allowingDollar: false)
    }

    /// Reads what stands behind the tag `$map`, whose names may begin with `$`.
    init(tagged payload: JSONNode, level: Int, room: inout DocumentRoom) throws(JSONFormFault) {
        guard let members = payload.members else { throw JSONFormFault(payload, expected: "an object after $map") }
        try self.init(reading: members, of: payload, level: level, room: &room, allowingDollar: true)
    }

    private init(
        reading members: some Sequence<(key: UTF8Key, value: JSONNode)>,
        of node: JSONNode,
        level: Int,
        room: inout DocumentRoom,
        allowingDollar: Bool
    ) throws(JSONFormFault) {
        try node.checkDepth(level)
        var values: [(key: UTF8Key, value: Value)] = []
        values.reserveCapacity(Swift.min(members.underestimatedCount, 1_024))
        for (key, member) in members {
            guard allowingDollar || !key.beginsWithDollar else { throw JSONFormFault(misplacedTag: key, of: member) }
            do throws(JSONFormFault) {
                try room.take(key.size, for: member)
                values.append((key, try Value(reading: member, level: level, room: &room)))
            } catch {
                throw error.inside(field: key)
            }
        }
        self.init(values)
    }
}

extension JSONNode {
    /// The tag and the tagged node of an object with a single member whose name begins with `$`; nil for any other node.
    fileprivate func tagged() throws(JSONFormFault) -> (tag: ValueTag, payload: JSONNode)? {
        guard count == 1, var members, let (key, payload) = members.next(), key.beginsWithDollar else { return nil }
        guard let tag = ValueTag(key) else { throw JSONFormFault(misplacedTag: key, of: payload) }
        return (tag, payload)
    }

    /// Refuses a map or array at a level that no document can have, before reading on inside it.
    fileprivate func checkDepth(_ level: Int) throws(JSONFormFault) {
        guard level <= DocumentLimits.maximumDepth else {
            throw JSONFormFault(
                self,
                "Expected at most \(DocumentLimits.maximumDepth) maps and arrays inside each other, found more. "
                    + "Nest less deeply, or move the inner values to other documents."
            )
        }
    }
}

extension JSONFormFault {
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
