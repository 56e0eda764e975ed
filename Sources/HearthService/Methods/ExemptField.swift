package import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON

/// `indexes.exempt`: a field is not indexed by itself.
package enum ExemptField: RPCMethod {
    private static let collection = Parameter<CollectionID>("collection", "The ID of the collections, wherever they are.")
    private static let field = Parameter<FieldPath>("field", "The field; all that is in it is meant too.")

    package static let name: UTF8Key = "indexes.exempt"
    package static let summary = "Ends indexing a field by itself; queries that need that get FAILED_PRECONDITION."
    package static let right = Role.admin
    package static let parameters: [any ParameterDescription] = [collection, field]
    package static let result = ResultDescription.indexes
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "The field cannot be exempted."),
        ErrorDescription(status: .alreadyExists, "The field is exempted already."),
        ErrorDescription(status: .resourceExhausted, "There are too many exemptions."),
        ErrorDescription(status: .dataLoss, "What was defined before can not be read; the error says where."),
    ]
    package static let examples = [
        RPCExample(
            "long texts",
            params: #"{"collection": "books", "field": "blurb"}"#,
            result: #"""
                {"indexes": [],
                "exemptions": [{"collection": "books", "field": "blurb"}]}
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws -> IndexChange {
        let (collection, field) = (try arguments[collection], try arguments[field])
        return try arguments.location(of: Self.field).model { () throws(StatusError) in
            .exempt(try IndexExemption(collection: collection, field: field))
        }
    }

    package static func call(_ params: IndexChange, in context: ServiceContext) async throws(StatusError) -> IndexReport {
        try await context.store.changeIndexes(params)
    }

    package static func write(_ result: IndexReport, to writer: inout JSONWriter) {
        result.write(to: &writer)
    }
}
