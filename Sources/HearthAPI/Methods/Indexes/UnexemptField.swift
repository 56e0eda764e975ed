import DocumentModel
package import DocumentStore
package import JSONRPC
package import UTF8Text

/// `indexes.unexempt`: removes a single-field index exemption.
package enum UnexemptField: IndexChangeMethod {
    package static let name: UTF8Key = "indexes.unexempt"
    package static let summary =
        "Removes a single-field index exemption. The index is rebuilt in the background and can then be used by queries."
    package static let parameters = ExemptionParameters.all
    package static let errors = [
        ErrorDescription(status: .notFound, "The field is not exempted."),
        ErrorDescription(status: .dataLoss, "The existing index definitions cannot be read; the error includes the location."),
    ]
    package static let examples = [
        RPCExample(
            "a field with long text",
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
