import DocumentModel
import HearthAPI
import StrictJSON
import UTF8Text

/// A method described by the OpenRPC document.
struct MethodReference: Sendable {
    /// The content descriptor of a parameter or result.
    struct Content: ViewModel {
        let name: String
        let description: String
        let isRequired: Bool
        let type: [SchemaDescription.Part]
        /// The schema as JSON, if ``type`` doesn't describe it completely.
        let schema: String?
    }

    /// An error that the method returns.
    struct MethodError: ViewModel {
        let code: String
        let status: String
        let description: String
    }

    /// An example call with its result.
    struct Example: Sendable {
        let name: String
        /// The parameters as an object.
        let params: JSONNode
        let result: String
    }

    let name: UTF8Key
    let summary: String
    let requiredRole: String
    let params: [Content]
    let result: Content?
    let errors: [MethodError]
    let examples: [Example]

    /// True if calls change data, keys or rules: the method requires more than the reader role, unless it reads by its name.
    var changesData: Bool {
        let verb = name.string.utf8.split(separator: UInt8(ascii: ".")).last.map { UTF8Key(Substring($0)) } ?? name
        return requiredRole != Role.reader.rawValue && !Self.readingVerbs.contains(verb)
    }

    private static let readingVerbs: Set<UTF8Key> = ["get", "list", "log"]

    /// - Parameter method: An element of the document's `methods`.
    init(_ method: JSONNode) {
        name = UTF8Key(method.text("name"))
        summary = method.text("summary")
        requiredRole = method.text("x-right")
        params = method.list("params").map(Content.init)
        result = method["result"].map(Content.init)
        errors = method.list("errors").map(MethodError.init)
        examples = method.list("examples").compactMap(Example.init)
    }
}

extension MethodReference.Content {
    fileprivate init(_ content: JSONNode) {
        name = content.text("name")
        self.description = content.text("description")
        isRequired = content["required"]?.boolean ?? false
        let schema = content["schema"]
        let description = schema.map(SchemaDescription.init) ?? SchemaDescription(content)
        type = description.parts
        self.schema = !description.isComplete ? schema.map(JSONPrettyPrinter.text) : nil
    }
}

extension MethodReference.MethodError {
    fileprivate init(_ error: JSONNode) {
        let number = error["code"].map { String(decoding: $0.rawBytes, as: UTF8.self) } ?? ""
        code = number
        status = Int(number).flatMap(StatusCode.init)?.name ?? ""
        description = error.text("message")
    }
}

extension MethodReference.Example {
    fileprivate init?(_ example: JSONNode) {
        var writer = JSONWriter()
        writer.beginObject()
        for param in example.list("params") {
            guard let value = param["value"] else { continue }
            writer.key(UTF8Key(param.text("name")))
            writer.raw(value.rawBytes)
        }
        writer.endObject()
        // The writer produces valid JSON.
        guard let params = try? JSONText(writer.finish()).root, let result = example["result"]?["value"] else { return nil }
        name = example.text("name")
        self.params = params
        self.result = JSONPrettyPrinter.text(result)
    }
}

extension JSONNode {
    fileprivate func text(_ key: UTF8Key) -> String {
        self[key]?.string ?? ""
    }

    fileprivate func list(_ key: UTF8Key) -> [JSONNode] {
        self[key]?.elements.map(Array.init) ?? []
    }
}
