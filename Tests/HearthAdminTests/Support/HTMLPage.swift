import CLibXML2

/// A page parsed by libxml2, queried with XPath.
///
/// libxml2 implements HTML 4, so errors about unknown elements are ignored.
struct HTMLPage {
    /// An element matched by an expression.
    struct Element {
        /// The text content.
        let text: String
        /// The attributes in source order.
        let attributes: [(name: String, value: String)]

        subscript(_ name: String) -> String? {
            attributes.first { $0.name == name }?.value
        }
    }

    struct Failure: Error {
        let message: String
    }

    let source: String
    /// The errors of the parser.
    let parseErrors: [String]
    private let document: Document

    /// Initializes libxml2 once, because its lazy initialization isn't thread-safe.
    private static let setUp: Void = xmlInitParser()

    init(_ bytes: [UInt8]) throws {
        Self.setUp
        source = String(decoding: bytes, as: UTF8.self)
        guard let parser = htmlNewParserCtxt() else { throw Failure(message: "no parser") }
        defer { htmlFreeParserCtxt(parser) }
        let parseErrors = ParseErrors()
        xmlSetStructuredErrorFunc(Unmanaged.passUnretained(parseErrors).toOpaque()) { context, error in
            guard let context, let error, let text = error.pointee.message else { return }
            let isName = error.pointee.code == Int32(XML_HTML_UNKNOWN_TAG.rawValue)
            if !isName {
                Unmanaged<ParseErrors>.fromOpaque(context).takeUnretainedValue().list.append(String(cString: text))
            }
        }
        defer { xmlSetStructuredErrorFunc(nil, nil) }
        let options = Int32(HTML_PARSE_NONET.rawValue | HTML_PARSE_NOWARNING.rawValue)
        let parsed = bytes.withUnsafeBytes { buffer in
            htmlCtxtReadMemory(parser, buffer.baseAddress, Int32(buffer.count), nil, "UTF-8", options)
        }
        guard let parsed else { throw Failure(message: "the page isn't HTML") }
        document = Document(pointer: parsed)
        self.parseErrors = parseErrors.list
    }

    /// Returns the elements that an XPath expression matches.
    func all(_ expression: String) throws -> [Element] {
        try withExtendedLifetime(document) {
            guard let context = xmlXPathNewContext(document.pointer) else { throw Failure(message: "no context") }
            defer { xmlXPathFreeContext(context) }
            guard let result = xmlXPathEvalExpression(expression, context) else {
                throw Failure(message: "not an XPath expression: \(expression)")
            }
            defer { xmlXPathFreeObject(result) }
            guard let nodes = result.pointee.nodesetval else { return [] }
            return (0..<Int(nodes.pointee.nodeNr)).compactMap { nodes.pointee.nodeTab[$0] }.map(Self.element)
        }
    }

    /// Returns the single element that an XPath expression matches.
    func one(_ expression: String) throws -> Element {
        let found = try all(expression)
        guard found.count == 1 else { throw Failure(message: "\(expression) found \(found.count) elements") }
        return found[0]
    }

    /// Returns the texts of all elements that an XPath expression matches.
    func texts(_ expression: String) throws -> [String] {
        try all(expression).map(\.text)
    }

    private static func element(_ node: UnsafeMutablePointer<xmlNode>) -> Element {
        var attributes: [(String, String)] = []
        if node.pointee.type == XML_ELEMENT_NODE {
            var attribute = node.pointee.properties
            while let current = attribute {
                let value = xmlNodeListGetString(node.pointee.doc, current.pointee.children, 1)
                attributes.append((String(cString: current.pointee.name), string(freeing: value)))
                attribute = current.pointee.next
            }
        }
        return Element(text: string(freeing: xmlNodeGetContent(node)), attributes: attributes)
    }

    private static func string(freeing text: UnsafeMutablePointer<xmlChar>?) -> String {
        guard let text else { return "" }
        defer { clibxml2_free(text) }
        return String(cString: text)
    }

    private final class ParseErrors {
        var list: [String] = []
    }

    private final class Document {
        let pointer: htmlDocPtr

        init(pointer: htmlDocPtr) {
            self.pointer = pointer
        }

        deinit {
            xmlFreeDoc(pointer)
        }
    }
}
