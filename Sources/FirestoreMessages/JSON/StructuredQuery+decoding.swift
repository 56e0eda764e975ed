package import DocumentModel
package import StrictJSON
import UTF8Text

extension StructuredQuery {
    private static let fields: [ProtoField] = [
        "select", "from", "where", "orderBy", "startAt", "endAt", "offset", "limit", "findNearest",
    ]

    /// Decodes a structured query.
    ///
    /// - Parameter parent: The parent document of the request, or `nil` for the root.
    package init(
        _ node: JSONNode,
        below parent: DocumentPath?,
        in database: DatabaseName,
        _ form: ProtoJSONForm = .standard
    ) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        let sources = try message.repeated("from") { node throws(StatusError) in try Source(node, below: parent) }
        self.init(
            try Self.onlySource(in: sources),
            where: try message.read("where") { node throws(StatusError) in try QueryFilter(node, in: database, form) },
            orders: try message.repeated("orderBy") { node throws(StatusError) in try Order(node) },
            start: try message.read("startAt") { node throws(StatusError) in
                try Cursor(node, isStart: true, in: database, form)
            },
            end: try message.read("endAt") { node throws(StatusError) in
                try Cursor(node, isStart: false, in: database, form)
            },
            offset: try message.read("offset") { node throws(StatusError) in try node.countField() } ?? 0,
            limit: try message.read("limit") { node throws(StatusError) in
                .first(try node.wrappedField(form) { number throws(StatusError) in try number.countField() })
            },
            projection: try message.read("select") { node throws(StatusError) in try [FieldPath](projection: node) } ?? [],
            vectorSearch: try message.read("findNearest") { node throws(StatusError) in
                try VectorSearch(node, in: database, form)
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
        try self.init(collectionID: text, allDescendants: allDescendants, below: parent)
    }
}

extension StructuredQuery.Order {
    private static let fields: [ProtoField] = ["field", "direction"]

    fileprivate init(_ node: JSONNode) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        let direction: Direction? = try message.read("direction") { node throws(StatusError) in
            try node.enumerationField(Direction.messageValues)
        }
        self.init(.field(try message.requiredField("field")), direction ?? .ascending)
    }
}

extension StructuredQuery.Cursor {
    private static let fields: [ProtoField] = ["values", "before"]

    /// Decodes a cursor.
    fileprivate init(_ node: JSONNode, isStart: Bool, in database: DatabaseName, _ form: ProtoJSONForm) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        self.init(
            try message.repeated("values") { node throws(StatusError) in try Value(inQuery: node, in: database, form) },
            isBefore: try message.read("before") { node throws(StatusError) in try node.booleanField() } ?? false,
            isStart: isStart
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
    package init(reference node: JSONNode) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.referenceFields)
        let path = try message.read("fieldPath") { node throws(StatusError) in try FieldPath(node.stringField()) }
        guard let path else { throw .missing("fieldPath") }
        self = path
    }
}

extension ProtoMessage {
    /// Decodes a field reference, or returns `nil` if it is absent.
    package func field(_ name: ProtoField) throws(StatusError) -> FieldPath? {
        try read(name) { node throws(StatusError) in try FieldPath(reference: node) }
    }

    /// Decodes a required field reference.
    package func requiredField(_ name: ProtoField) throws(StatusError) -> FieldPath {
        guard let path = try field(name) else { throw .missing(name.name.string) }
        return path
    }
}
