import DocumentModel
import StrictJSON
import UTF8Text

extension QueryFilter {
    private static let fields: [ProtoField] = ["compositeFilter", "fieldFilter", "unaryFilter"]

    /// Decodes a filter. Recursion is bounded by the depth limit of the JSON text.
    init(_ node: JSONNode, in database: DatabaseName) throws(StatusError) {
        let filter: QueryFilter? = try ProtoMessage(node, fields: Self.fields).oneOf(
            ("compositeFilter", { node throws(StatusError) in try QueryFilter(composite: node, in: database) }),
            ("fieldFilter", { node throws(StatusError) in try QueryFilter(field: node, in: database) }),
            ("unaryFilter", { node throws(StatusError) in try QueryFilter(unary: node) })
        )
        guard let filter else {
            throw StatusError(.invalidArgument, "Expected one of compositeFilter, fieldFilter and unaryFilter, found none.")
        }
        self = filter
    }

    private static let compositeFilterFields: [ProtoField] = ["op", "filters"]

    private init(composite node: JSONNode, in database: DatabaseName) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.compositeFilterFields)
        let filters = try message.repeated("filters") { node throws(StatusError) in try QueryFilter(node, in: database) }
        let filter: QueryFilter? = try message.read("op") { node throws(StatusError) in
            try node.enumerationField([(1, "AND", .and(filters)), (2, "OR", .or(filters))])
        }
        guard let filter else { throw StatusError(.invalidArgument, "Expected op to be AND or OR.") }
        self = filter
    }

    private static let fieldFilterFields: [ProtoField] = ["field", "op", "value"]

    private init(field node: JSONNode, in database: DatabaseName) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fieldFilterFields)
        let field = try message.field("field")
        guard
            let op = try message.read("op", { node throws(StatusError) in try node.enumerationField(FieldOperator.cases) })
        else { throw StatusError(.invalidArgument, "Expected op, such as EQUAL.") }
        let condition = try message.read("value") { node throws(StatusError) in
            try op.condition(Value(inQuery: node, in: database))
        }
        guard let condition else { throw StatusError(.invalidArgument, "Expected a value to compare with.") }
        self = .field(field, condition)
    }

    private static let unaryFilterFields: [ProtoField] = ["field", "op"]

    private init(unary node: JSONNode) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.unaryFilterFields)
        let condition: Condition? = try message.read("op") { node throws(StatusError) in
            try node.enumerationField([
                (2, "IS_NAN", .equal(.double(.nan))), (3, "IS_NULL", .equal(.null)),
                (4, "IS_NOT_NAN", .notEqual(.double(.nan))), (5, "IS_NOT_NULL", .notEqual(.null)),
            ])
        }
        guard let condition else { throw StatusError(.invalidArgument, "Expected op, such as IS_NULL.") }
        self = .field(try message.field("field"), condition)
    }
}

/// The operators of a field filter.
private enum FieldOperator {
    case less
    case lessOrEqual
    case greater
    case greaterOrEqual
    case equal
    case notEqual
    case arrayContains
    case `in`
    case arrayContainsAny
    case notIn

    static let cases: [(number: Int64, name: StaticString, value: FieldOperator)] = [
        (1, "LESS_THAN", .less), (2, "LESS_THAN_OR_EQUAL", .lessOrEqual), (3, "GREATER_THAN", .greater),
        (4, "GREATER_THAN_OR_EQUAL", .greaterOrEqual), (5, "EQUAL", .equal), (6, "NOT_EQUAL", .notEqual),
        (7, "ARRAY_CONTAINS", .arrayContains), (8, "IN", .in), (9, "ARRAY_CONTAINS_ANY", .arrayContainsAny),
        (10, "NOT_IN", .notIn),
    ]

    func condition(_ operand: Value) throws(StatusError) -> Condition {
        switch self {
        case .less: .less(operand)
        case .lessOrEqual: .lessOrEqual(operand)
        case .greater: .greater(operand)
        case .greaterOrEqual: .greaterOrEqual(operand)
        case .equal: .equal(operand)
        case .notEqual: .notEqual(operand)
        case .arrayContains: .arrayContains(operand)
        case .in: .in(try Self.elements(operand))
        case .arrayContainsAny: .arrayContainsAny(try Self.elements(operand))
        case .notIn: .notIn(try Self.elements(operand))
        }
    }

    private static func elements(_ operand: Value) throws(StatusError) -> [Value] {
        guard case .array(let elements) = operand else {
            throw StatusError(.invalidArgument, "The operator requires an arrayValue.")
        }
        return elements
    }
}

extension Value {
    /// Decodes a value that documents are compared with.
    ///
    /// Official clients end the range of a collection's descendants at an impossible name,
    /// `COLLECTION\0/__id-9223372036854775808__`. It is decoded as the next possible collection ID.
    init(inQuery node: JSONNode, in database: DatabaseName) throws(StatusError) {
        guard let text = (node["referenceValue"] ?? node["reference_value"])?.string, text.utf8.contains(0) else {
            try self.init(node, in: database)
            return
        }
        let path = try database.relativePath(of: text).utf8
        let collection = try CollectionPath(String(Substring(path.prefix { $0 != 0 })))
        guard let next = collection.id.successor else {
            throw StatusError(
                .invalidArgument,
                "No collection ID follows \(Excerpt(collection.string)). Omit the bound."
            )
        }
        let suffix = String(Substring(path.drop { $0 != 0 }.dropFirst()))
        self = .reference(try DocumentPath(CollectionPath(parent: collection.parent, id: next).string + suffix))
    }
}
