package import DocumentModel
package import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `collections.size`: returns the number and total size of documents.
package enum GetCollectionSize: RPCMethod {
    /// The parameters of `collections.size`.
    package struct Params: Sendable {
        /// The collection, or `nil` for the whole database.
        package var collection: CollectionPath?

        package init(collection: CollectionPath? = nil) {
            self.collection = collection
        }
    }

    private static let collection = Parameter<CollectionPath?>(
        "collection",
        "The collection, without its subcollections. Default: the whole database."
    )

    package static let name: UTF8Key = "collections.size"
    package static let summary =
        "Returns the number and total size of documents, at constant cost."
    package static let requiredPermission = Permission.reader
    package static let parameters: [any ParameterDescription] = [collection]
    package static let result = ResultDescription("size", .collectionSize, "The size.")
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "The path is invalid."),
        ErrorDescription(status: .unavailable, "The index cannot currently be read."),
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
        writer.member(SizeKeys.documentCount, result.documentCount)
        writer.member(SizeKeys.bytes, result.byteCount)
        writer.endObject()
    }
}

extension JSONSchema {
    /// The schema of a collection size.
    static var collectionSize: JSONSchema {
        .object([
            .init("documentCount", .integer(minimum: 0), "The number of documents, excluding unreadable ones."),
            .init("bytes", .integer(minimum: 0), "The total size of the documents, by Firestore's storage size formula."),
        ])
    }
}
