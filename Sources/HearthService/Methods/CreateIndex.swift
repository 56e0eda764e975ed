import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON

/// `indexes.create`: an index of several fields.
package enum CreateIndex: IndexChanging {
    private static let collection = Parameter<CollectionID>("collection", "The ID of the collections, wherever they are.")
    private static let fields = Parameter<[IndexFieldParameter]>(
        "fields",
        "The fields: those with equalities first, then those of the order, with its directions or all of them reversed."
    )

    package static let name: UTF8Key = "indexes.create"
    package static let summary =
        "Makes an index of several fields, for all collections with an ID and for their group, in the background."
    package static let parameters: [any ParameterDescription] = [collection, fields]
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "There are too few or too many fields, or one twice."),
        ErrorDescription(status: .alreadyExists, "There is such an index."),
        ErrorDescription(status: .resourceExhausted, "There are too many indexes."),
        ErrorDescription(status: .dataLoss, "What was defined before can not be read; the error says where."),
    ]
    package static let examples = [
        RPCExample(
            "by author, the longest first",
            params: #"{"collection": "books", "fields": [{"field": "author"}, {"field": "numberOfPages", "direction": "desc"}]}"#,
            result: #"""
                {"indexes": [{"id": "1508c36e", "collection": "books",
                "fields": [{"field": "author", "direction": "asc"}, {"field": "numberOfPages", "direction": "desc"}],
                "state": "building", "documentsDone": 0, "documentsTotal": 0}],
                "exemptions": [], "changes": []}
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws -> IndexChange {
        let (collection, fields) = (try arguments[collection], try arguments[fields].map(\.field))
        return try arguments.location(of: Self.fields).model { () throws(StatusError) in
            .create(try IndexDefinition(collection: collection, fields: fields))
        }
    }
}
