package import DocumentModel
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `keys.create`: creates an API key.
package enum CreateKey: RPCMethod {
    /// A created key and its text.
    package struct Result: Sendable {
        package let key: APIKey
        /// The text of the key, which is not stored.
        package let text: String
    }

    private static let role = Parameter<Role>(
        "role",
        "The role of the key: reader (reads and watches), writer (also writes) or admin (also manages keys, indexes and databases)."
    )
    private static let label = Parameter<String?>("label", "A description of the key's purpose, at most 200 bytes.")
    private static let collections = Parameter<[CollectionPath]?>(
        "collections",
        "The collections that the key gives access to, with their subcollections. Default: the whole database."
    )
    private static let expireTime = Parameter<Timestamp?>(
        "expireTime",
        "The time at which the key expires. Default: never."
    )

    package static let name: UTF8Key = "keys.create"
    package static let summary =
        "Creates an API key. The key is returned only once: the server stores its hash."
    package static let requiredPermission = Permission.admin
    package static let parameters: [any ParameterDescription] = [role, label, collections, expireTime]
    package static let result = ResultDescription(
        "key",
        .object([.init("key", .string(), "The key, to be sent as Authorization: Bearer KEY.")] + JSONSchema.keyMembers),
        "The key."
    )
    package static let errors = [
        ErrorDescription(
            status: .invalidArgument,
            "The label is too long, a collection path is invalid, an admin's key is restricted to collections, or the expireTime has passed."
        ),
        ErrorDescription(status: .resourceExhausted, "The maximum number of keys has been reached, or the disk is full."),
        ErrorDescription(status: .unavailable, "The keys cannot currently be written."),
    ]
    package static let examples = [
        RPCExample(
            "a key for a program that reads books",
            params: #"{"role": "reader", "label": "the library's web page", "collections": ["books"]}"#,
            result: #"""
                {
                    "key": "fsk_8be2d4017c6f_f55ca2d68c4e4ac0c0f3a1d9dfe35dbd7a9f3a8a1a6ff3e29c5e0b9a8f04b1e6",
                    "id": "8be2d4017c6f",
                    "label": "the library's web page",
                    "role": "reader",
                    "collections": ["books"],
                    "createTime": "2024-02-29T12:00:00.000000Z"
                }
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws -> APIKey.Attributes {
        let (role, label) = (try arguments[role], try arguments[label] ?? "")
        let (collections, expireTime) = (try arguments[collections], try arguments[expireTime])
        return try arguments.location.locatingErrors { () throws(StatusError) in
            try APIKey.Attributes(role: role, label: label, collections: collections, expireTime: expireTime)
        }
    }

    package static func call(_ params: APIKey.Attributes, in context: ServiceContext) async throws(StatusError) -> Result {
        try context.requireAuthenticatedCaller()
        try context.requirePrimary()
        let result: Result
        do throws(StatusError) {
            let (key, text) = try await context.keys.create(params)
            result = Result(key: key, text: text)
        } catch {
            await context.audit(.createKey, detail: "role \(params.role.rawValue)", error: error)
            throw error
        }
        await context.audit(.createKey, on: result.key.id.string, detail: "role \(params.role.rawValue)")
        return result
    }

    package static func write(_ result: Result, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(APIKeyMembers.key, result.text)
        result.key.writeMembers(to: &writer)
        writer.endObject()
    }
}

extension JSONSchema {
    /// The public attributes of a key.
    static let keyMembers: [Property] = [
        .init("id", .string(), "The public ID of the key."),
        .init("label", .string(), "The description of its purpose; absent if there is none.", isRequired: false),
        .init("role", Role.schema, "The role of the key."),
        .init(
            "collections",
            .array(of: CollectionPath.schema),
            "The collections that it gives access to, with their subcollections; absent for the whole database.",
            isRequired: false
        ),
        .init("createTime", Timestamp.schema, "The creation time."),
        .init(
            "expireTime",
            Timestamp.schema,
            "The time at which it expires; absent if it does not expire.",
            isRequired: false
        ),
        .init("lastUseTime", Timestamp.schema, "The time of its last use; absent if it was never used.", isRequired: false),
    ]
}
