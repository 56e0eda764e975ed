import Mustache

/// Escapes text for HTML, as element content and as a quoted attribute value.
///
/// Mustache's own escaping goes character by character and so overlooks a quote that carries a combining mark,
/// which a browser, going by code points, takes as the end of the attribute. This one goes byte by byte.
struct MarkupEscaping: MustacheContentType {
    func escapeText(_ text: String) -> String {
        guard text.utf8.contains(where: { Self.entity(for: $0) != nil }) else { return text }
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count + text.utf8.count / 8)
        for byte in text.utf8 {
            if let entity = Self.entity(for: byte) {
                entity.withUTF8Buffer { escaped.append(contentsOf: $0) }
            } else {
                escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
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
