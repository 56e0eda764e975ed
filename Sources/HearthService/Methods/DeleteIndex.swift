import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON

/// `indexes.delete`: no longer an index of several fields.
package enum DeleteIndex: IndexChanging {
    private static let id = Parameter<String>("id", "The index's ID, as indexes.list names it.")

    package static let name: UTF8Key = "indexes.delete"
    package static let summary = "Removes an index of several fields; its entries go in the background."
    package static let parameters: [any ParameterDescription] = [id]
    package static let errors = [
        ErrorDescription(status: .notFound, "There is no such index."),
        ErrorDescription(status: .dataLoss, "What was defined before can not be read; the error says where."),
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
