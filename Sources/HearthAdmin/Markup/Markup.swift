import Mustache

/// HTML written by code instead of a template, for elements that a page has thousands of, such as table cells: rendering a
/// template tag takes microseconds.
///
/// Templates insert it unescaped with three braces, which they use for nothing else.
struct Markup: Sendable {
    private var bytes: [UInt8] = []

    /// Creates markup with a closure.
    init(_ write: (inout Markup) -> Void) {
        write(&self)
    }

    /// The HTML.
    var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Writes unescaped HTML.
    mutating func raw(_ markup: StaticString) {
        markup.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Writes elements separated by line breaks.
    mutating func lines<Element>(_ elements: [Element], _ write: (Element, inout Markup) -> Void) {
        for (index, element) in elements.enumerated() {
            if index > 0 { raw("\n") }
            write(element, &self)
        }
    }

    /// Writes text, escaped for element content and quoted attribute values.
    mutating func text(_ text: String) {
        HTMLEscaping.append(text, to: &bytes)
    }
}

extension Markup: MustacheCustomRenderable {
    var renderText: String { string }
    var isNull: Bool { false }
}
