import StrictJSON
import UTF8Text

/// A JSON Schema summarized in words, with links to named schemas: `array of Document`.
struct SchemaDescription: Sendable {
    /// Plain text, or a link to a named schema on the page.
    struct Part: ViewModel {
        var text: String
        let url: String?
    }

    private(set) var parts: [Part] = []
    /// True if the description covers the whole schema.
    private(set) var isComplete = true

    init(_ schema: JSONNode) {
        write(schema)
    }

    private mutating func write(_ schema: JSONNode) {
        if let reference = schema["$ref"]?.string {
            let name = reference.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? reference
            parts.append(Part(text: name, url: "#schema-\(name)"))
        } else if let forms = schema["oneOf"]?.elements ?? schema["allOf"]?.elements {
            write(Array(forms), separator: " or ")
        } else if let values = schema["enum"]?.elements {
            write(Array(values).map { String(decoding: $0.rawBytes, as: UTF8.self) }.joined(separator: " or "))
        } else if let elements = schema["items"] {
            write("array of ")
            write(elements)
        } else if schema["properties"] != nil {
            isComplete = false
            write("object")
        } else if let values = schema["additionalProperties"], values.kind == .object {
            write("object of ")
            write(values)
        } else {
            if schema["pattern"] != nil { isComplete = false }
            write(Self.words(for: schema))
        }
    }

    private mutating func write(_ forms: [JSONNode], separator: String) {
        for (index, form) in forms.enumerated() {
            if index > 0 { write(separator) }
            write(form)
        }
    }

    private mutating func write(_ words: String) {
        if let last = parts.indices.last, parts[last].url == nil {
            parts[last].text += words
        } else {
            parts.append(Part(text: words, url: nil))
        }
    }

    /// Describes a schema of a single type.
    private static func words(for schema: JSONNode) -> String {
        guard let type = schema["type"]?.string else { return "any value" }
        let range = (schema["minimum"]?.text, schema["maximum"]?.text)
        return switch (range, schema["format"]?.string) {
        case ((let minimum?, let maximum?), _): "\(type), \(minimum) to \(maximum)"
        case ((let minimum?, nil), _): "\(type), at least \(minimum)"
        case ((nil, let maximum?), _): "\(type), at most \(maximum)"
        case (_, let format?): "\(type), \(format)"
        default: type
        }
    }
}

extension JSONNode {
    fileprivate var text: String {
        String(decoding: rawBytes, as: UTF8.self)
    }
}
