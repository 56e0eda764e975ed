package import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON

/// `collections.size`: how many documents there are, and how large they are.
package enum SizeOfCollection: RPCMethod {
    package struct Params: Sendable {
        /// The collection; all of the database when nil.
        package var collection: CollectionPath?

        package init(collection: CollectionPath? = nil) {
            self.collection = collection
        }
    }

    private static let collection = Parameter<CollectionPath?>(
        "collection",
        "The collection, without what is below its documents; all of the database when absent."
    )

    package static let name: UTF8Key = "collections.size"
    package static let summary =
        "Tells how many documents there are and how large they are, at the same cost however many that is."
    package static let right = Role.reader
    package static let parameters: [any ParameterDescription] = [collection]
    package static let result = ResultDescription("size", .collectionSize, "The size.")
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "The path breaks a rule."),
        ErrorDescription(status: .unavailable, "The index can't be read now."),
    ]
    package static let examples = [
        RPCExample("the books", params: #"{"collection": "books"}"#, result: #"{"documentCount": 3, "bytes": 412}"#)
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        Params(collection: try arguments[collection])
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> CollectionSize {
        try await context.store.size(of: params.collection)
    }

    package static func write(_ result: CollectionSize, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("documentCount")
        writer.integer(Int64(result.documentCount))
        writer.key("bytes")
        writer.integer(Int64(result.byteCount))
        writer.endObject()
    }
}
