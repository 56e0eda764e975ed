import Mustache

/// Escapes text for HTML, as element content and as a quoted attribute value.
///
/// Mustache's own escaping iterates over grapheme clusters and overlooks a quote with a combining mark, which browsers, iterating
/// over code points, parse as the end of the attribute. This implementation iterates over bytes.
struct HTMLEscaping: MustacheContentType {
    func escapeText(_ text: String) -> String {
        guard text.utf8.contains(where: { Self.entity(for: $0) != nil }) else { return text }
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count + text.utf8.count / 8)
        Self.append(text, to: &escaped)
        return String(decoding: escaped, as: UTF8.self)
    }

    /// Appends the escaped text.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { text in
            var start = 0
            for (index, byte) in text.enumerated() {
                guard let entity = entity(for: byte) else { continue }
                bytes.append(contentsOf: text[start..<index])
                entity.withUTF8Buffer { bytes.append(contentsOf: $0) }
                start = index + 1
            }
            bytes.append(contentsOf: text[start...])
        }
    }

    private static func entity(for byte: UInt8) -> StaticString? {
        switch byte {
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "\""): "&quot;"
        case UInt8(ascii: "'"): "&#39;"
        case UInt8(ascii: "`"): "&#96;"
        case UInt8(ascii: "="): "&#61;"
        default: nil
        }
    }
}
