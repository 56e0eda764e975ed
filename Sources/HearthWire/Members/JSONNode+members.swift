package import DocumentModel
package import StrictJSON
import UTF8Text

extension JSONNode {
    /// The value of a member; nil if the object has no such member, or if the node is not an object.
    @_disfavoredOverload  // Otherwise a literal argument would be ambiguous.
    package subscript(_ key: WireKey) -> JSONNode? {
        self[UTF8Key(key.text)]
    }

    /// Returns the string value of a member.
    ///
    /// - Throws: `.internal` if there is none.
    package func string(_ key: WireKey) throws(StatusError) -> String {
        guard let string = self[key]?.string else { throw .malformedResponse(self, expected: "a string named \(key.text)") }
        return string
    }

    /// Returns the value of a time member; `nil` if there is none.
    ///
    /// - Throws: An error if the member is a string that is not a time.
    package func time(_ key: WireKey) throws(StatusError) -> Timestamp? {
        try self[key]?.string.map { text throws(StatusError) in try Timestamp(rfc3339: text) }
    }

    /// The value of an integer member; nil if there is none in the range of the type.
    package func integer<Number: FixedWidthInteger>(_ key: WireKey) -> Number? {
        guard case .integer(let number)? = self[key]?.number else { return nil }
        return Number(exactly: number)
    }

    /// Returns the elements of an array member.
    ///
    /// - Throws: `.internal` if there is none.
    package func array(_ key: WireKey) throws(StatusError) -> [JSONNode] {
        guard let elements = self[key]?.elements else { throw .malformedResponse(self, expected: "an array named \(key.text)") }
        return Array(elements)
    }
}

extension StatusError {
    /// Returns the error for a response with an unexpected structure.
    package static func malformedResponse(_ json: JSONNode, expected: String) -> StatusError {
        let found = Excerpt(String(decoding: json.rawBytes.prefix(200), as: UTF8.self))
        return StatusError(.internal, "Malformed response: expected \(expected), found \(found).")
    }
}
