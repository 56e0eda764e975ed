import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON

/// `indexes.unexempt`: a field is indexed by itself again.
package enum UnexemptField: IndexChanging {
    package static let name: UTF8Key = "indexes.unexempt"
    package static let summary = "Indexes a field by itself again; queries can use that when it is done."
    package static let parameters = ExemptionParameters.all
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
                "exemptions": [], "changes": []}
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws -> IndexChange {
        .unexempt(try ExemptionParameters.exemption(from: arguments))
    }
}
