package import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `indexes.list`: lists composite indexes and single-field exemptions.
package enum ListIndexes: RPCMethod {
    package static let name: UTF8Key = "indexes.list"
    package static let summary = "Lists composite indexes with their build progress, and single-field index exemptions."
    package static let requiredPermission = Permission.reader
    package static let parameters: [any ParameterDescription] = []
    package static let result = ResultDescription.indexes
    package static let errors = [
        ErrorDescription(status: .unavailable, "The database cannot currently be read.")
    ]
    package static let examples = [
        RPCExample(
            "a finished index",
            params: #"{}"#,
            result: #"""
                {"indexes": [{"id": "1508c36e", "collection": "books",
                "fields": [{"field": "author", "direction": "asc"}, {"field": "numberOfPages", "direction": "desc"}],
                "state": "ready", "documentsDone": 0, "documentsTotal": 0}],
                "exemptions": [], "changes": []}
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws {
    }

    package static func call(_ params: Void, in context: ServiceContext) async throws(StatusError) -> IndexReport {
        // An index applies to all collections with its collection ID.
        try context.caller.requireAccessToDatabase()
        return await context.store.indexes()
    }

    package static func write(_ result: IndexReport, to writer: inout JSONWriter) {
        result.write(to: &writer)
    }
}
