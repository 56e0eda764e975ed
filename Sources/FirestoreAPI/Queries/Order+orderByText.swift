package import DocumentModel
import FirestoreMessages
import UTF8Text

extension [StructuredQuery.Order] {
    /// Parses an `orderBy` parameter: `priority desc, __name__ desc`. `__name__ asc` alone is the default order and yields none.
    package init(_ text: String) throws(StatusError) {
        self = []
        for part in Self.parts(of: text) {
            let words = part.split(separator: UInt8(ascii: " "))
            guard let direction = StructuredQuery.Order.Direction(words.dropFirst()) else {
                throw StatusError(
                    .invalidArgument,
                    "Expected comma-separated field paths, each optionally followed by asc or desc, found \(Excerpt(text))."
                )
                .prefixingPath(with: "orderBy")
            }
            let path = String(decoding: words.first ?? [], as: UTF8.self)
            append(StructuredQuery.Order(.field(try FieldPath(path)), direction))
        }
        if self == [StructuredQuery.Order(.field(.documentName))] { self = [] }
    }

    /// Splits text at commas outside of backticks.
    private static func parts(of text: String) -> [[UInt8]] {
        var parts: [[UInt8]] = [[]]
        var isQuoted = false
        var isEscaped = false
        for byte in text.utf8 {
            if byte == UInt8(ascii: "`"), !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && byte == UInt8(ascii: "\\") && !isEscaped
            if byte == UInt8(ascii: ","), !isQuoted { parts.append([]) } else { parts[parts.count - 1].append(byte) }
        }
        return parts
    }
}

extension StructuredQuery.Order.Direction {
    /// Parses the words after a field, or returns `nil` if they are not a direction.
    fileprivate init?(_ words: some Collection<ArraySlice<UInt8>>) {
        guard let word = words.first else {
            self = .ascending
            return
        }
        let letters = word.map { $0 | 0x20 }
        guard words.count == 1 else { return nil }
        if letters.elementsEqual("asc".utf8) {
            self = .ascending
        } else if letters.elementsEqual("desc".utf8) {
            self = .descending
        } else {
            return nil
        }
    }
}
