import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON

/// `indexes.exempt`: a field is not indexed by itself.
package enum ExemptField: IndexChanging {
    package static let name: UTF8Key = "indexes.exempt"
    package static let summary = "Ends indexing a field by itself; queries that need that get FAILED_PRECONDITION."
    package static let parameters = ExemptionParameters.all
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
                "exemptions": [{"collection": "books", "field": "blurb"}], "changes": []}
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws -> IndexChange {
        .exempt(try ExemptionParameters.exemption(from: arguments))
    }
}
