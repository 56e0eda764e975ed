package import DocumentModel
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `keys.list`: lists the API keys.
package enum ListKeys: RPCMethod {
    package static let name: UTF8Key = "keys.list"
    package static let summary = "Lists the API keys, including expired ones, without their secrets."
    package static let requiredPermission = Permission.admin
    package static let parameters: [any ParameterDescription] = []
    package static let result = ResultDescription(
        "result",
        .object([.init("keys", .array(of: .object(JSONSchema.keyMembers)), "The keys, in the order of their creation.")]),
        "The keys."
    )
    package static let examples = [
        RPCExample(
            "two keys",
            params: "{}",
            result: #"""
                {
                    "keys": [
                        {
                            "id": "5f0c1e9ab3d2",
                            "label": "backups",
                            "role": "reader",
                            "createTime": "2024-02-29T12:00:00.000000Z"
                        },
                        {
                            "id": "8be2d4017c6f",
                            "label": "the library's web page",
                            "role": "reader",
                            "collections": ["books"],
                            "createTime": "2024-02-29T12:00:00.000000Z"
                        }
                    ]
                }
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws {}

    package static func call(_ params: Void, in context: ServiceContext) async throws(StatusError) -> [APIKey] {
        try context.requireAuthenticatedCaller()
        // A command may have changed the file a moment ago.
        await context.keys.refresh()
        return context.keys.all
    }

    package static func write(_ result: [APIKey], to writer: inout JSONWriter) {
        writer.beginObject()
        writer.array(APIKeyMembers.keys, of: result) { key, writer in writer.raw(key.json) }
        writer.endObject()
    }
}
