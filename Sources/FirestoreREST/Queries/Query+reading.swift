import DocumentModel
import StrictJSON

extension Query {
    private static let fields: [MessageField] = [
        "select", "from", "where", "orderBy", "startAt", "endAt", "offset", "limit", "findNearest",
    ]

    /// Reads a structured query.
    ///
    /// - Parameter parent: The document below which it looks; the root when nil.
    init(_ node: JSONNode, below parent: DocumentPath?, in database: DatabaseName) throws(StatusError) {
        let message = try Message(node, fields: Self.fields)
        let sources = try message.list("from") { node throws(StatusError) in try Source(node, below: parent) }
        guard sources.count == 1, let source = sources.first else {
            throw StatusError(.invalidArgument, "A query is from exactly one collection selector; found \(sources.count).")
                .inside(place: "from")
        }
        self.init(
            source,
            where: try message.read("where") { node throws(StatusError) in try Filter(node, in: database) },
            orders: try message.list("orderBy") { node throws(StatusError) in try Order(node) },
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

extension Query.Source {
    private static let fields: [MessageField] = ["collectionId", "allDescendants"]

    /// Reads a collection selector.
    fileprivate init(_ node: JSONNode, below parent: DocumentPath?) throws(StatusError) {
        let message = try Message(node, fields: Self.fields)
        let text = try message.read("collectionId") { node throws(StatusError) in try node.stringField() } ?? ""
        let allDescendants = try message.read("allDescendants") { node throws(StatusError) in try node.booleanField() } ?? false
        guard !text.utf8.isEmpty else {
            guard allDescendants else {
                throw StatusError(
                    .unimplemented,
                    "Expected a collectionId or allDescendants: the collections right below a document can't be queried together."
                )
            }
            self = .descendants(of: parent)
            return
        }
        let id = try CollectionID(text)
        self = allDescendants ? .collectionGroup(id, below: parent) : .collection(CollectionPath(parent: parent, id: id))
    }
}

extension Query.Order {
    private static let fields: [MessageField] = ["field", "direction"]

    fileprivate init(_ node: JSONNode) throws(StatusError) {
        let message = try Message(node, fields: Self.fields)
        let direction: Direction? = try message.read("direction") { node throws(StatusError) in
            try node.enumerationField([
                (1, "ASCENDING", .ascending), (2, "DESCENDING", .descending), (0, "DIRECTION_UNSPECIFIED", .ascending),
            ])
        }
        self.init(.field(try message.field("field")), direction ?? .ascending)
    }
}

extension Query.Cursor {
    private static let fields: [MessageField] = ["values", "before"]

    /// Reads a cursor.
    ///
    /// - Parameter isInclusiveBefore: Whether one that stands before its values includes what is at them, as at the start.
    fileprivate init(_ node: JSONNode, isInclusiveBefore: Bool, in database: DatabaseName) throws(StatusError) {
        let message = try Message(node, fields: Self.fields)
        let isBefore = try message.read("before") { node throws(StatusError) in try node.booleanField() } ?? false
        self.init(
            try message.list("values") { node throws(StatusError) in try Value(inQuery: node, in: database) },
            isInclusive: isBefore == isInclusiveBefore
        )
    }
}

extension [FieldPath] {
    private static let projectionFields: [MessageField] = ["fields"]

    fileprivate init(projection node: JSONNode) throws(StatusError) {
        self = try Message(node, fields: Self.projectionFields).list("fields") { node throws(StatusError) in
            try FieldPath(reference: node)
        }
    }
}

extension FieldPath {
    private static let referenceFields: [MessageField] = ["fieldPath"]

    /// Reads a reference to a field: `{"fieldPath": "a.b"}`.
    init(reference node: JSONNode) throws(StatusError) {
        let message = try Message(node, fields: Self.referenceFields)
        let path = try message.read("fieldPath") { node throws(StatusError) in try FieldPath(node.stringField()) }
        guard let path else { throw StatusError(.invalidArgument, "Expected a fieldPath.") }
        self = path
    }
}

extension Message {
    /// A field that must refer to a field of documents.
    func field(_ name: MessageField) throws(StatusError) -> FieldPath {
        let path = try read(name) { node throws(StatusError) in try FieldPath(reference: node) }
        guard let path else { throw StatusError(.invalidArgument, "Expected \(name.name), the field that is meant.") }
        return path
    }
}
