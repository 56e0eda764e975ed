package import DocumentModel
package import StrictJSON
package import UTF8Text

extension JSONNode {
    /// Returns the string value of a member.
    ///
    /// - Throws: `.internal` if there is none.
    package func string(_ key: UTF8Key) throws(StatusError) -> String {
        guard let string = self[key]?.string else { throw .malformedResponse(self, expected: "a string named \(key.string)") }
        return string
    }

    /// Returns the value of a time member; `nil` if there is none.
    ///
    /// - Throws: An error if the member is a string that is not a time.
    package func time(_ key: UTF8Key) throws(StatusError) -> Timestamp? {
        try self[key]?.string.map { text throws(StatusError) in try Timestamp(rfc3339: text) }
    }

    /// The value of an integer member; `nil` if there is none in the range of the type.
    package func integer<Number: FixedWidthInteger>(_ key: UTF8Key) -> Number? {
        guard case .integer(let number)? = self[key]?.number else { return nil }
        return Number(exactly: number)
    }

    /// Returns the elements of an array member.
    ///
    /// - Throws: `.internal` if there is none.
    package func array(_ key: UTF8Key) throws(StatusError) -> [JSONNode] {
        guard let elements = self[key]?.elements else { throw .malformedResponse(self, expected: "an array named \(key.string)") }
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
