import Mustache

/// HTML that is written by the program itself: for what a page has thousands of, such as the cells of a table, since each tag of
/// a template takes microseconds.
///
/// A template takes it as it is, in three braces; nothing else may stand there.
struct Markup: Sendable {
    private var bytes: [UInt8] = []

    /// What `write` writes.
    init(_ write: (inout Markup) -> Void) {
        write(&self)
    }

    /// What has been written.
    var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Writes markup as it stands.
    mutating func raw(_ markup: StaticString) {
        markup.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Writes elements, each on a line of its own; the last line is left open.
    mutating func lines<Element>(_ elements: [Element], _ write: (Element, inout Markup) -> Void) {
        for (index, element) in elements.enumerated() {
            if index > 0 { raw("\n") }
            write(element, &self)
        }
    }

    /// Writes text, escaped for elements and for quoted attributes.
    mutating func text(_ text: String) {
        MarkupEscaping.append(text, to: &bytes)
    }
}

extension Markup: MustacheCustomRenderable {
    var renderText: String { string }
    var isNull: Bool { false }
}
