import UTF8Text

/// An HTTP entity tag (RFC 9110, section 8.8.3): a prefix of the content's digest.
package struct EntityTag: Hashable, Sendable {
    /// The hexadecimal digits between the quotation marks.
    package let digits: String

    /// Creates the tag of the content with a digest.
    package init(digest: some Sequence<UInt8>) {
        digits = Hexadecimal.encode(digest.prefix(8))
    }

    /// The value of the `ETag` field.
    package var text: String {
        "\"\(digits)\""
    }

    /// Returns whether an `If-None-Match` field value matches the tag, by weak comparison.
    package func matches(ifNoneMatch field: String) -> Bool {
        HeaderListElement.split(field).contains { listed in
            let strong = listed.starts(with: "W/".utf8) ? listed.dropFirst(2) : listed[...]
            return strong.elementsEqual(text.utf8) || strong.elementsEqual("*".utf8)
        }
    }
}
