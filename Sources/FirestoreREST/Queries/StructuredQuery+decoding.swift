import DocumentModel
import StrictJSON

extension StructuredQuery {
    private static let fields: [ProtoField] = [
        "select", "from", "where", "orderBy", "startAt", "endAt", "offset", "limit", "findNearest",
    ]

    /// Decodes a structured query.
    ///
    /// - Parameter parent: The parent document of the request, or `nil` for the root.
    init(_ node: JSONNode, below parent: DocumentPath?, in database: DatabaseName) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        let sources = try message.repeated("from") { node throws(StatusError) in try Source(node, below: parent) }
        guard sources.count == 1, let source = sources.first else {
            throw StatusError(.invalidArgument, "Expected exactly one collection selector, found \(sources.count).")
                .prefixingPath(with: "from")
        }
        self.init(
            source,
            where: try message.read("where") { node throws(StatusError) in try QueryFilter(node, in: database) },
            orders: try message.repeated("orderBy") { node throws(StatusError) in try Order(node) },
            start: try message.read("startAt") { node throws(StatusError) in
                try Cursor(node, isInclusiveBefore: true, in: database)
            },
            end: try message.read("endAt") { node throws(StatusError) in
                try Cursor(node, isInclusiveBefore: false, in: database)
            },
            offset: try message.read("offset") { node throws(StatusError) in try node.countField() } ?? 0,
            limit: try message.read("limit") { node throws(StatusError) in .first(try node.countField()) },
            projection: try message.read("select") { node throws(StatusError) in try [FieldPath](projection: node) } ?? [],
            vectorSearch: try message.read("findNearest") { node throws(StatusError) in
                try VectorSearch(node, in: database)
            }
        )
    }
}

extension StructuredQuery.Source {
    private static let fields: [ProtoField] = ["collectionId", "allDescendants"]

    /// Decodes a collection selector.
    fileprivate init(_ node: JSONNode, below parent: DocumentPath?) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        let text = try message.read("collectionId") { node throws(StatusError) in try node.stringField() } ?? ""
        let allDescendants = try message.read("allDescendants") { node throws(StatusError) in try node.booleanField() } ?? false
        guard !text.utf8.isEmpty else {
            guard allDescendants else {
                throw StatusError(
                    .unimplemented,
                    "collectionId or allDescendants is required: querying all child collections of a document is not supported."
                )
            }
            self = .descendants(of: parent)
            return
        }
        let id = try CollectionID(text)
        self = allDescendants ? .collectionGroup(id, below: parent) : .collection(CollectionPath(parent: parent, id: id))
    }
}

extension StructuredQuery.Order {
    private static let fields: [ProtoField] = ["field", "direction"]

    fileprivate init(_ node: JSONNode) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        let direction: Direction? = try message.read("direction") { node throws(StatusError) in
            try node.enumerationField([
                (1, "ASCENDING", .ascending), (2, "DESCENDING", .descending), (0, "DIRECTION_UNSPECIFIED", .ascending),
            ])
        }
        self.init(.field(try message.field("field")), direction ?? .ascending)
    }
}

extension StructuredQuery.Cursor {
    private static let fields: [ProtoField] = ["values", "before"]

    /// Decodes a cursor.
    ///
    /// - Parameter isInclusiveBefore: Whether a cursor with `before` includes documents at its values: `true` for a start cursor.
    fileprivate init(_ node: JSONNode, isInclusiveBefore: Bool, in database: DatabaseName) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        let isBefore = try message.read("before") { node throws(StatusError) in try node.booleanField() } ?? false
        self.init(
            try message.repeated("values") { node throws(StatusError) in try Value(inQuery: node, in: database) },
            isInclusive: isBefore == isInclusiveBefore
        )
    }
}

extension [FieldPath] {
    private static let projectionFields: [ProtoField] = ["fields"]

    fileprivate init(projection node: JSONNode) throws(StatusError) {
        self = try ProtoMessage(node, fields: Self.projectionFields).repeated("fields") { node throws(StatusError) in
            try FieldPath(reference: node)
        }
    }
}

extension FieldPath {
    private static let referenceFields: [ProtoField] = ["fieldPath"]

    /// Decodes a field reference: `{"fieldPath": "a.b"}`.
    init(reference node: JSONNode) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.referenceFields)
        let path = try message.read("fieldPath") { node throws(StatusError) in try FieldPath(node.stringField()) }
        guard let path else { throw StatusError(.invalidArgument, "fieldPath is required.") }
        self = path
    }
}

extension ProtoMessage {
    /// Decodes a required field reference.
    func field(_ name: ProtoField) throws(StatusError) -> FieldPath {
        let path = try read(name) { node throws(StatusError) in try FieldPath(reference: node) }
        guard let path else { throw StatusError(.invalidArgument, "\(name.name) is required.") }
        return path
    }
}
