import DocumentModel
package import DocumentStore
package import JSONRPC
package import UTF8Text

/// `indexes.create`: creates a composite index.
package enum CreateIndex: IndexChangeMethod {
    private static let collection = Parameter<CollectionID>("collection", "The ID of the collections, at any depth.")
    private static let fields = Parameter<[IndexFieldParameter]>(
        "fields",
        "The fields: those with equality filters first, then those of orderBy, in the same directions or all reversed."
    )

    package static let name: UTF8Key = "indexes.create"
    package static let summary =
        "Creates a composite index for all collections with a given ID and for their collection group. The index is built in the background."
    package static let parameters: [any ParameterDescription] = [collection, fields]
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "Too few or too many fields, or a duplicate field."),
        ErrorDescription(status: .alreadyExists, "The index already exists."),
        ErrorDescription(status: .resourceExhausted, "The maximum number of indexes has been reached."),
        ErrorDescription(status: .dataLoss, "The existing index definitions cannot be read; the error includes the location."),
    ]
    package static let examples = [
        RPCExample(
            "by author, longest first",
            params: #"{"collection": "books", "fields": [{"field": "author"}, {"field": "numberOfPages", "direction": "desc"}]}"#,
            result: #"""
                {"indexes": [{"id": "1508c36e", "collection": "books",
                "fields": [{"field": "author", "direction": "asc"}, {"field": "numberOfPages", "direction": "desc"}],
                "state": "building", "documentsDone": 0}],
                "exemptions": [], "changes": []}
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws -> IndexChange {
        let (collection, fields) = (try arguments[collection], try arguments[fields].map(\.field))
        return try arguments.location(of: Self.fields).locatingErrors { () throws(StatusError) in
            .create(try IndexDefinition(collection: collection, fields: fields))
        }
    }
}

/// A field of a composite index: `{field, direction?}`.
struct IndexFieldParameter: ObjectParameter {
    let field: IndexDefinition.Field

    static let schemaName = "IndexField"
    static let name = Parameter<FieldPath>("field", "The field.")
    static let direction = Parameter<OrderParameter.Direction?>("direction", "asc or desc. Default: asc.")
    static let members: [any ParameterDescription] = [name, direction]

    init(from members: Arguments) throws(RPCError) {
        field = IndexDefinition.Field(try members[Self.name], try members[Self.direction]?.direction ?? .ascending)
    }
}
