/// A template with translatable strings in double square brackets: `<h2>[[Collections]]</h2>`.
///
/// A string may contain template variables, as in `[[No document has the ID {{id}}]]`, and markup:
/// `[[Back to <a href="{{url}}">{{name}}</a>]]`. A string without markup is escaped.
struct TranslatableTemplate {
    private let source: String

    init(_ source: String) {
        self.source = source
    }

    /// The translatable strings in template order.
    var strings: [String] {
        var strings: [String] = []
        _ = translated {
            strings.append($0)
            return $0
        }
        return strings
    }

    /// Returns the template with each string replaced with its translation.
    func translated(_ translate: (String) -> String) -> String {
        var result: [UInt8] = []
        var rest = source.utf8[...]
        while let start = rest.firstRange(of: Self.opening), let end = rest[start.upperBound...].firstRange(of: Self.closing) {
            result += rest[..<start.lowerBound]
            let text = String(decoding: rest[start.upperBound..<end.lowerBound], as: UTF8.self)
            result += (Self.isMarkup(text) ? translate(text) : Self.escape(translate(text))).utf8
            rest = rest[end.upperBound...]
        }
        return String(decoding: result + rest, as: UTF8.self)
    }

    /// Returns whether text contains HTML markup.
    static func isMarkup(_ text: String) -> Bool {
        text.utf8.contains(UInt8(ascii: "<"))
    }

    /// Escapes plain text except for its variables.
    private static func escape(_ text: String) -> String {
        var result = ""
        var rest = text.utf8[...]
        while let start = rest.firstRange(of: variableOpening),
            let end = rest[start.upperBound...].firstRange(of: variableClosing)
        {
            result += HTMLEscaping().escapeText(String(decoding: rest[..<start.lowerBound], as: UTF8.self))
            result += String(decoding: rest[start.lowerBound..<end.upperBound], as: UTF8.self)
            rest = rest[end.upperBound...]
        }
        return result + HTMLEscaping().escapeText(String(decoding: rest, as: UTF8.self))
    }

    private static let opening = Array("[[".utf8)
    private static let closing = Array("]]".utf8)
    private static let variableOpening = Array("{{".utf8)
    private static let variableClosing = Array("}}".utf8)
}
