/// A template whose texts for people stand in double square brackets: `<h2>[[Collections]]</h2>`.
///
/// A text may hold variables of the template, as in `[[No document has the ID {{id}}]]`, and markup:
/// `[[Back to <a href="{{url}}">{{name}}</a>]]`. One without markup is plain, and escaped.
struct TranslatableTemplate {
    private let source: String

    init(_ source: String) {
        self.source = source
    }

    /// The texts, in the order of the template.
    var texts: [String] {
        var texts: [String] = []
        _ = translated {
            texts.append($0)
            return $0
        }
        return texts
    }

    /// The template with each text replaced by what a function makes of it.
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

    /// Whether a text has markup of HTML.
    static func isMarkup(_ text: String) -> Bool {
        text.utf8.contains(UInt8(ascii: "<"))
    }

    /// Escapes a plain text, and leaves its variables as they are.
    private static func escape(_ text: String) -> String {
        var result = ""
        var rest = text.utf8[...]
        while let start = rest.firstRange(of: variableOpening),
            let end = rest[start.upperBound...].firstRange(of: variableClosing)
        {
            result += MarkupEscaping().escapeText(String(decoding: rest[..<start.lowerBound], as: UTF8.self))
            result += String(decoding: rest[start.lowerBound..<end.upperBound], as: UTF8.self)
            rest = rest[end.upperBound...]
        }
        return result + MarkupEscaping().escapeText(String(decoding: rest, as: UTF8.self))
    }

    private static let opening = Array("[[".utf8)
    private static let closing = Array("]]".utf8)
    private static let variableOpening = Array("{{".utf8)
    private static let variableClosing = Array("}}".utf8)
}
