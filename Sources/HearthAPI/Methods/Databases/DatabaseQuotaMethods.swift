package import DocumentModel
package import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `databases.setQuota`: limits what a database holds.
package enum SetDatabaseQuota: RPCMethod {
    private static let documentCount = Parameter<Int?>("documentCount", "The maximum number of documents. Default: no limit.")
    private static let byteCount = Parameter<Int?>(
        "bytes",
        "The maximum total size of the documents, by Firestore's storage size formula. Default: no limit."
    )

    package static let name: UTF8Key = "databases.setQuota"
    package static let summary =
        "Limits the number and size of a database's documents. Commits that exceed a limit fail with RESOURCE_EXHAUSTED; those that "
        + "delete or shrink documents always pass."
    package static let requiredPermission = Permission.admin
    package static let parameters: [any ParameterDescription] = [documentCount, byteCount]
    package static let result = ResultDescription("quota", .quota, "The new quota.")
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "A limit is negative."),
        ErrorDescription(status: .resourceExhausted, "The disk is full."),
        ErrorDescription(status: .unimplemented, "The database has no quota."),
        ErrorDescription(status: .unavailable, "The quota cannot currently be stored."),
    ]
    package static let examples = [
        RPCExample("a million documents", params: #"{"documentCount": 1000000}"#, result: #"{"documentCount": 1000000}"#)
    ]

    package static func params(from arguments: Arguments) throws -> DatabaseQuota {
        let quota = DatabaseQuota(documentCount: try arguments[documentCount], byteCount: try arguments[byteCount])
        for (parameter, value) in [(documentCount, quota.documentCount), (byteCount, quota.byteCount)] {
            guard let value, value < 0 else { continue }
            throw RPCError.invalidParams(
                at: arguments.location(of: parameter).description,
                reason: "expected an integer that is not negative",
                got: "\(value)"
            )
        }
        return quota
    }

    package static func call(_ params: DatabaseQuota, in context: ServiceContext) async throws(StatusError) -> DatabaseQuota {
        try context.caller.requireAccessToDatabase()
        try context.requirePrimary()
        try await context.audited(.setQuota) { () async throws(StatusError) in try await context.store.setQuota(params) }
        return params
    }

    package static func write(_ result: DatabaseQuota, to writer: inout JSONWriter) {
        result.write(to: &writer)
    }
}

/// `databases.getQuota`: returns the limits on what a database holds.
package enum GetDatabaseQuota: RPCMethod {
    package static let name: UTF8Key = "databases.getQuota"
    package static let summary = "Returns the quota of a database. What it holds is the result of collections.size."
    package static let requiredPermission = Permission.reader
    package static let parameters: [any ParameterDescription] = []
    package static let result = ResultDescription("quota", .quota, "The quota; without members if there is none.")
    package static let examples = [
        RPCExample("a million documents", params: "{}", result: #"{"documentCount": 1000000}"#)
    ]

    package static func params(from arguments: Arguments) throws {}

    package static func call(_ params: Void, in context: ServiceContext) async throws(StatusError) -> DatabaseQuota {
        try context.caller.requireAccessToDatabase()
        return try await context.store.quota()
    }

    package static func write(_ result: DatabaseQuota, to writer: inout JSONWriter) {
        result.write(to: &writer)
    }
}

extension DatabaseQuota {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        if let documentCount {
            writer.member(SizeKeys.documentCount, documentCount)
        }
        if let byteCount {
            writer.member(SizeKeys.bytes, byteCount)
        }
        writer.endObject()
    }
}

extension JSONSchema {
    /// The schema of a quota.
    fileprivate static var quota: JSONSchema {
        .object([
            .init("documentCount", .integer(minimum: 0), "The maximum number of documents.", isRequired: false),
            .init("bytes", .integer(minimum: 0), "The maximum total size of the documents.", isRequired: false),
        ])
    }
}
