internal import CLibXML2

/// A streaming XML writer on top of libxml2.
///
/// ```swift
/// let xml = XMLWriter()
/// xml.startElement("entry")
/// xml.element("title", "Ada & Co.")
/// xml.endElement()
/// let bytes = xml.flush()
/// ```
///
/// Text and attribute values are escaped; characters that XML does not allow, such as most control characters, become U+FFFD.
/// Names are literals, never data. The caller ends every element that it starts.
package final class XMLWriter {
    private let buffer: xmlBufferPtr
    private let writer: xmlTextWriterPtr

    /// Initializes libxml2 once: its implicit initialization on first use is not thread-safe.
    private static let initializeLibrary: Void = xmlInitParser()

    /// Starts a document and writes the XML declaration.
    package init() {
        Self.initializeLibrary
        // Both fail only when memory is exhausted.
        guard let buffer = xmlBufferCreate(), let writer = xmlNewTextWriterMemory(buffer, 0) else {
            preconditionFailure("libxml2 could not allocate a writer")
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

    /// Starts an element; its attributes follow.
    package func startElement(_ name: StaticString) {
        xmlTextWriterStartElement(writer, Self.pointer(name))
    }

    /// Writes an attribute of the element just started.
    package func attribute(_ name: StaticString, _ value: String) {
        xmlTextWriterWriteAttribute(writer, Self.pointer(name), Self.sanitized(value))
    }

    /// Writes text into the innermost element.
    package func text(_ text: String) {
        xmlTextWriterWriteString(writer, Self.sanitized(text))
    }

    /// Ends the innermost element.
    package func endElement() {
        xmlTextWriterEndElement(writer)
    }

    /// Writes an element with text content.
    package func element(_ name: StaticString, _ text: String) {
        startElement(name)
        self.text(text)
        endElement()
    }

    /// Returns the bytes written since the last call and clears the buffer.
    package func flush() -> [UInt8] {
        xmlTextWriterFlush(writer)
        let bytes = UnsafeBufferPointer(start: xmlBufferContent(buffer), count: Int(xmlBufferLength(buffer)))
        defer { xmlBufferEmpty(buffer) }
        return Array(bytes)
    }

    private static func pointer(_ name: StaticString) -> UnsafePointer<xmlChar> {
        name.utf8Start
    }

    /// Replaces characters that XML 1.0 (section 2.2) does not allow even when escaped.
    private static func sanitized(_ text: String) -> String {
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
