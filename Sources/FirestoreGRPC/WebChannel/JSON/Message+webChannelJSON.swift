package import DocumentModel
import StrictJSON
package import SwiftProtobuf
import UTF8Text

extension Message {
    /// Decodes a message in the JSON form of Protocol Buffers, as web clients send it. Unknown fields are ignored.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for JSON that is not such a message.
    package init(webChannelJSON json: [UInt8]) throws(StatusError) {
        do {
            let limits = JSONLimits(maximumBytes: json.count, maximumDepth: JSONEntryRewriter.maximumDepth)
            let json = JSONEntryRewriter.rewrite(try JSONText(json, limits: limits).root)
            var options = JSONDecodingOptions()
            options.ignoreUnknownFields = true
            options.messageDepthLimit = 2 * JSONEntryRewriter.maximumDepth
            try self.init(jsonUTF8Bytes: json, options: options)
        } catch {
            throw StatusError(
                .invalidArgument,
                "The message is not a valid \(Self.protoMessageName) in JSON: \(error)",
                cause: error
            )
        }
    }
}

/// Rewrites the JSON of a request for the generated messages.
///
/// - The fields of documents and maps, which are repeated entries there: `{"a": 1}` becomes `[{"key": "a", "value": 1}]`.
/// - `limit` and `expectedCount`, which old clients send as `{"value": 1}`: they become `1`.
/// - Strings, without the escapes that need none: SwiftProtobuf decodes some pairs of surrogates as another character.
private struct JSONEntryRewriter {
    /// The deepest nesting: 20 levels of maps in a document are 60.
    static let maximumDepth = 80

    private var writer: JSONWriter

    static func rewrite(_ root: JSONNode) -> [UInt8] {
        var rewriter = JSONEntryRewriter(writer: JSONWriter(reservingCapacity: root.rawBytes.count))
        rewriter.write(root, in: "")
        return rewriter.writer.finish()
    }

    /// Writes a value.
    ///
    /// - Parameter field: The name of the field with the value. Names that users choose are only in the fields of documents and
    ///   maps, and in labels, whose values are strings.
    private mutating func write(_ node: JSONNode, in field: UTF8Key) {
        if let members = node.members {
            writer.beginObject()
            for (name, value) in members {
                writer.key(name)
                write(value, of: name, in: field)
            }
            writer.endObject()
        } else if let elements = node.elements {
            writer.beginArray()
            for element in elements { write(element, in: "") }
            writer.endArray()
        } else if let string = node.string {
            writer.string(string)
        } else {
            writer.raw(node.rawBytes)
        }
    }

    /// Writes the value of a member of the object in a field.
    private mutating func write(_ value: JSONNode, of name: UTF8Key, in field: UTF8Key) {
        switch (field, name) {
        case ("update", "fields"), ("mapValue", "fields"), ("map_value", "fields"):
            guard let members = value.members else { return write(value, in: name) }
            writer.beginArray()
            for (name, value) in members { writeEntry(name, value) }
            writer.endArray()
        case ("structuredQuery", "limit"), ("structured_query", "limit"), ("addTarget", "expectedCount"),
            ("add_target", "expected_count"):
            guard value.count == 1, let number = value["value"] else { return write(value, in: name) }
            writer.raw(number.rawBytes)
        default:
            write(value, in: name)
        }
    }

    private mutating func writeEntry(_ name: UTF8Key, _ value: JSONNode) {
        writer.beginObject()
        writer.key("key")
        writer.string(name.string)
        writer.key("value")
        write(value, in: "")
        writer.endObject()
    }
}
