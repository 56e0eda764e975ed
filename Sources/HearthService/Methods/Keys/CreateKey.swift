package import DocumentModel
package import JSONRPC
package import StrictJSON

/// `keys.create`: a key for another caller.
package enum CreateKey: RPCMethod {
    package struct Result: Sendable {
        package let key: AccessKey
        /// What its owner shows; it is kept nowhere.
        package let text: String
    }

    private static let role = Parameter<Role>(
        "role",
        "What the key allows: reader (read and watch), writer (write too), admin (make and revoke keys too)."
    )
    private static let label = Parameter<String?>("label", "What the key is for, at most 200 bytes.")
    private static let collections = Parameter<[CollectionPath]?>(
        "collections",
        "The collections that the key is for, with all that is below them; the whole database when absent."
    )
    private static let expireTime = Parameter<Timestamp?>("expireTime", "From when on the key is refused; never when absent.")

    package static let name: UTF8Key = "keys.create"
    package static let summary = "Makes a key. It is shown in the answer and never again: only its hash is kept."
    package static let right = Role.admin
    package static let parameters: [any ParameterDescription] = [role, label, collections, expireTime]
    package static let result = ResultDescription(
        "key",
        .object([.init("key", .string(), "The key, to be shown as Authorization: Bearer KEY.")] + JSONSchema.keyMembers),
        "The key."
    )
    package static let errors = [
        ErrorDescription(
            status: .invalidArgument,
            "The label is too long, a collection is no path, the key of an admin is for some only, or the expireTime has passed."
        ),
        ErrorDescription(status: .resourceExhausted, "There are as many keys as there may be, or there is no space left."),
        ErrorDescription(status: .unavailable, "The keys can't be written now."),
    ]
    package static let examples = [
        RPCExample(
            "for a program that reads the books",
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

    package static func params(from arguments: Arguments) throws -> AccessKey.Description {
        let (role, label) = (try arguments[role], try arguments[label] ?? "")
        let (collections, expireTime) = (try arguments[collections], try arguments[expireTime])
        return try arguments.location.model { () throws(StatusError) in
            try AccessKey.Description(role: role, label: label, collections: collections, expireTime: expireTime)
        }
    }

    package static func call(_ params: AccessKey.Description, in context: ServiceContext) async throws(StatusError) -> Result {
        try context.requireKnownCaller()
        let (key, text) = try await context.keys.create(params)
        return Result(key: key, text: text)
    }

    package static func write(_ result: Result, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("key")
        writer.string(result.text)
        result.key.writeMembers(to: &writer)
        writer.endObject()
    }
}

extension JSONSchema {
    /// What is told of a key.
    static let keyMembers: [Property] = [
        .init("id", .string(), "Names the key, and is no secret."),
        .init("label", .string(), "What it is for; absent when that was not said.", isRequired: false),
        .init("role", Role.schema, "What it allows."),
        .init(
            "collections",
            .array(of: CollectionPath.schema),
            "What it is for, with all that is below; absent for the whole database.",
            isRequired: false
        ),
        .init("createTime", Timestamp.schema, "When it was made."),
        .init("expireTime", Timestamp.schema, "From when on it is refused; absent when it does not expire.", isRequired: false),
        .init("lastUseTime", Timestamp.schema, "When it was shown last; absent when it was not yet.", isRequired: false),
    ]
}
