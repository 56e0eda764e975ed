import DocumentModel
package import DocumentStore
package import JSONRPC
package import UTF8Text

/// `indexes.exempt`: exempts a field from single-field indexing.
package enum ExemptField: IndexChangeMethod {
    package static let name: UTF8Key = "indexes.exempt"
    package static let summary =
        "Exempts a field and its subfields from single-field indexing. Queries that need the index fail with FAILED_PRECONDITION."
    package static let parameters = ExemptionParameters.all
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "The field cannot be exempted."),
        ErrorDescription(status: .alreadyExists, "The field is already exempted."),
        ErrorDescription(status: .resourceExhausted, "The maximum number of exemptions has been reached."),
        ErrorDescription(status: .dataLoss, "The existing index definitions cannot be read; the error includes the location."),
    ]
    package static let examples = [
        RPCExample(
            "a field with long text",
            params: #"{"collection": "books", "field": "blurb"}"#,
            result: #"""
                {"indexes": [],
                "exemptions": [{"collection": "books", "field": "blurb"}], "changes": []}
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws -> IndexChange {
        .exempt(try ExemptionParameters.exemption(from: arguments))
    }
}

/// The parameters that identify a single-field index exemption.
enum ExemptionParameters {
    private static let collection = Parameter<CollectionID>("collection", "The ID of the collections, at any depth.")
    private static let field = Parameter<FieldPath>("field", "The field, including its subfields.")

    static let all: [any ParameterDescription] = [collection, field]

    static func exemption(from arguments: Arguments) throws(RPCError) -> IndexExemption {
        let (collection, field) = (try arguments[collection], try arguments[field])
        return try arguments.location(of: Self.field).locatingErrors { () throws(StatusError) in
            try IndexExemption(collection: collection, field: field)
        }
    }
}
