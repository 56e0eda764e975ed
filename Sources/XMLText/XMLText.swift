internal import CLibXML2

/// Writes XML as text, part by part, through libxml2.
///
/// ```swift
/// let xml = XMLText()
/// xml.begin("entry")
/// xml.element("title", "Ada & Co.")
/// xml.end()
/// let bytes = xml.take()
/// ```
///
/// Text and attributes are escaped; characters that XML can't hold, such as most controls, become U+FFFD. Names are the caller's
/// own, never data. Whatever is begun is ended by the caller.
package final class XMLText {
    private let buffer: xmlBufferPtr
    private let writer: xmlTextWriterPtr

    /// libxml2 sets itself up when it is first used, which is not safe on two threads at once.
    private static let setUp: Void = xmlInitParser()

    /// Begins a document with its declaration.
    package init() {
        Self.setUp
        // Both fail only for want of memory.
        guard let buffer = xmlBufferCreate(), let writer = xmlNewTextWriterMemory(buffer, 0) else {
            preconditionFailure("libxml2 has no memory for a writer")
        }
        self.buffer = buffer
        self.writer = writer
        xmlTextWriterSetIndent(writer, 1)
        xmlTextWriterStartDocument(writer, "1.0", "UTF-8", nil)
    }

    deinit {
        xmlFreeTextWriter(writer)
        xmlBufferFree(buffer)
    }

    /// Begins an element, whose attributes come next.
    package func begin(_ name: StaticString) {
        xmlTextWriterStartElement(writer, Self.pointer(name))
    }

    /// Writes an attribute of the element that was just begun.
    package func attribute(_ name: StaticString, _ value: String) {
        xmlTextWriterWriteAttribute(writer, Self.pointer(name), Self.writable(value))
    }

    /// Writes text into the innermost element.
    package func text(_ text: String) {
        xmlTextWriterWriteString(writer, Self.writable(text))
    }

    /// Ends the innermost element.
    package func end() {
        xmlTextWriterEndElement(writer)
    }

    /// Writes an element that holds nothing but text.
    package func element(_ name: StaticString, _ text: String) {
        begin(name)
        self.text(text)
        end()
    }

    /// What has been written since the last time.
    package func take() -> [UInt8] {
        xmlTextWriterFlush(writer)
        let bytes = UnsafeBufferPointer(start: xmlBufferContent(buffer), count: Int(xmlBufferLength(buffer)))
        defer { xmlBufferEmpty(buffer) }
        return Array(bytes)
    }

    private static func pointer(_ name: StaticString) -> UnsafePointer<xmlChar> {
        name.utf8Start
    }

    /// Text without what no document can hold (XML 1.0, 2.2): not even escaped.
    private static func writable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { !isCharacter($0) }) else { return text }
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: text.unicodeScalars.lazy.map { isCharacter($0) ? $0 : "\u{FFFD}" })
        return String(scalars)
    }

    private static func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0a, 0x0d, 0x20...0xd7ff, 0xe000...0xfffd, 0x1_0000...0x10_ffff: true
        default: false
        }
    }
}
