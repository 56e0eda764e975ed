import DocumentModel

extension [Query.Order] {
    /// Reads orders as text: `priority desc, __name__ desc`. The order of names upwards alone is none.
    init(_ text: String) throws(StatusError) {
        self = []
        for part in Self.parts(of: text) {
            let words = part.split(separator: UInt8(ascii: " "))
            guard let direction = Query.Order.Direction(words.dropFirst()) else {
                throw StatusError(
                    .invalidArgument,
                    "Expected field paths with commas between them, each with asc or desc behind it or nothing, found \(Excerpt(text))."
                )
                .inside(place: "orderBy")
            }
            let path = String(decoding: words.first ?? [], as: UTF8.self)
            append(Query.Order(.field(try FieldPath(path)), direction))
        }
        if self == [Query.Order(.field(.documentName))] { self = [] }
    }

    /// The parts between commas, but for those in back-quotes.
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

extension Query.Order.Direction {
    /// Reads what is behind a field; nil when it is no direction.
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
