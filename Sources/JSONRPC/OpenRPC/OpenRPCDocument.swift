import StrictJSON
import UTF8Text

/// An encoder of the OpenRPC document of a method table, as compact JSON.
///
/// The document declares version 1.3.2 of the specification, which current tools accept; 1.4 is identical in all parts used here.
/// All references are internal.
struct OpenRPCDocument {
    private var writer = JSONWriter()
    private var components = SchemaComponents()

    static func encode(_ info: OpenRPCInfo, methods: [MethodDescription]) -> [UInt8] {
        var document = OpenRPCDocument()
        document.write(info, methods: methods)
        return document.writer.finish()
    }

    private mutating func write(_ info: OpenRPCInfo, methods: [MethodDescription]) {
        writer.beginObject()
        write("openrpc", "1.3.2")
        writer.key("info")
        writer.beginObject()
        write("title", info.title)
        write("version", info.version)
        write("description", info.description)
        writer.endObject()
        if !info.servers.isEmpty {
            writeArray("servers", of: info.servers) { document, server in
                document.writer.beginObject()
                document.write("name", server.name)
                document.write("url", server.url)
                document.writer.endObject()
            }
        }
        writeArray("methods", of: methods) { $0.write($1) }
        writer.key("components")
        writer.beginObject()
        writer.key("schemas")
        components.write(to: &writer)
        writer.endObject()
        writer.endObject()
    }

    private mutating func write(_ method: MethodDescription) {
        writer.beginObject()
        write("name", method.name.string)
        write("summary", method.summary)
        write("x-right", method.requiredPermission)
        write("paramStructure", "either")
        writeArray("params", of: method.parameters) { document, parameter in
            document.writeContent(
                name: parameter.name.string,
                parameter.schema,
                description: parameter.description,
                isRequired: parameter.isRequired
            )
        }
        writer.key("result")
        writeContent(
            name: method.result.name,
            method.result.schema,
            description: method.result.description,
            isRequired: true
        )
        writeArray("errors", of: method.errors) { document, error in
            document.writer.beginObject()
            document.writer.key("code")
            document.writer.integer(Int64(error.code.rawValue))
            document.write("message", error.message)
            document.writer.endObject()
        }
        writeArray("examples", of: method.examples) { $0.write($1) }
        writer.endObject()
    }

    private mutating func writeContent(name: String, _ schema: JSONSchema, description: String, isRequired: Bool) {
        writer.beginObject()
        write("name", name)
        write("description", description)
        writer.key("required")
        writer.boolean(isRequired)
        writer.key("schema")
        schema.write(to: &writer, components: &components)
        writer.endObject()
    }

    private mutating func write(_ example: RPCExample) {
        writer.beginObject()
        write("name", example.name)
        writer.key("params")
        writer.beginArray()
        if let params = example.params.root.members {
            for (name, value) in params {
                write(name: name.string, value: value)
            }
        }
        writer.endArray()
        writer.key("result")
        write(name: "result", value: example.result.root)
        writer.endObject()
    }

    private mutating func write(name: String, value: JSONNode) {
        writer.beginObject()
        write("name", name)
        writer.key("value")
        writer.raw(value.rawBytes)
        writer.endObject()
    }

    private mutating func write(_ key: StaticString, _ value: String) {
        writer.key(key)
        writer.string(value)
    }

    private mutating func writeArray<Element>(
        _ key: StaticString,
        of elements: [Element],
        _ write: (inout OpenRPCDocument, Element) -> Void
    ) {
        writer.key(key)
        writer.beginArray()
        for element in elements {
            write(&self, element)
        }
        writer.endArray()
    }
}

/// The service-level metadata of an OpenRPC document.
package struct OpenRPCInfo: Sendable {
    /// An endpoint of the service.
    package struct Server: Sendable {
        package let name: String
        package let url: String

        package init(name: String, url: String) {
            self.name = name
            self.url = url
        }
    }

    package let title: String
    /// The version of the API, not of OpenRPC.
    package let version: String
    package let description: String
    package let servers: [Server]

    package init(title: String, version: String, description: String, servers: [Server] = []) {
        self.title = title
        self.version = version
        self.description = description
        self.servers = servers
    }
}
