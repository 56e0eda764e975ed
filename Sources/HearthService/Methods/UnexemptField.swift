package import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON

/// `indexes.unexempt`: a field is indexed by itself again.
package enum UnexemptField: RPCMethod {
    private static let collection = Parameter<CollectionID>("collection", "The ID of the collections, wherever they are.")
    private static let field = Parameter<FieldPath>("field", "The field; all that is in it is meant too.")

    package static let name: UTF8Key = "indexes.unexempt"
    package static let summary = "Indexes a field by itself again; queries can use that when it is done."
    package static let right = Role.admin
    package static let parameters: [any ParameterDescription] = [collection, field]
    package static let result = ResultDescription.indexes
    package static let errors = [
        ErrorDescription(status: .notFound, "The field is not exempted."),
        ErrorDescription(status: .dataLoss, "What was defined before can not be read; the error says where."),
    ]
    package static let examples = [
        RPCExample(
            "long texts",
            params: #"{"collection": "books", "field": "blurb"}"#,
            result: #"""
                {"indexes": [],
                "exemptions": []}
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws -> IndexChange {
        let (collection, field) = (try arguments[collection], try arguments[field])
        return try arguments.location(of: Self.field).model { () throws(StatusError) in
            .unexempt(try IndexExemption(collection: collection, field: field))
        }
    }

    package static func call(_ params: IndexChange, in context: ServiceContext) async throws(StatusError) -> IndexReport {
        try await context.store.changeIndexes(params)
    }

    package static func write(_ result: IndexReport, to writer: inout JSONWriter) {
        result.write(to: &writer)
    }
}
