/// The mark by which a client knows again what it has been sent (RFC 9110, 8.8.3): some of a digest of it.
package struct EntityTag: Hashable, Sendable {
    /// The digits between the quotation marks.
    package let digits: String

    /// Makes the tag of what has this digest.
    package init(digest: some Sequence<UInt8>) {
        digits = Hexadecimal.encode(digest.prefix(8))
    }

    /// The tag as it stands in `ETag`.
    package var text: String {
        "\"\(digits)\""
    }

    /// Whether a client that sends this `If-None-Match` has what the tag is of. Whether it calls its tags weak doesn't matter.
    package func isListed(in field: String) -> Bool {
        field.utf8.split(separator: UInt8(ascii: ",")).contains { listed in
            var listed = listed.drop(while: Self.isBlank)
            while let last = listed.last, Self.isBlank(last) { listed.removeLast() }
            if listed.starts(with: "W/".utf8) { listed = listed.dropFirst(2) }
            return listed.elementsEqual(text.utf8) || listed.elementsEqual("*".utf8)
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}
