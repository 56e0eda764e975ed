import DocumentModel
package import DocumentStore
package import JSONRPC
package import UTF8Text

/// `indexes.delete`: deletes a composite index.
package enum DeleteIndex: IndexChangeMethod {
    private static let id = Parameter<String>("id", "The index ID, as returned by indexes.list.")

    package static let name: UTF8Key = "indexes.delete"
    package static let summary = "Deletes a composite index. Its entries are removed in the background."
    package static let parameters: [any ParameterDescription] = [id]
    package static let errors = [
        ErrorDescription(status: .notFound, "The index does not exist."),
        ErrorDescription(status: .dataLoss, "The existing index definitions cannot be read; the error includes the location."),
    ]
    package static let examples = [
        RPCExample(
            "by its ID",
            params: #"{"id": "1508c36e"}"#,
            result: #"""
                {"indexes": [],
                "exemptions": [], "changes": []}
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws -> IndexChange {
        .delete(id: try arguments[id])
    }
}
