import DocumentModel
import StrictJSON
import SyncEngine
import Testing
import UTF8Text

extension ViewQuery {
    /// Creates a query from its JSON in a spec test.
    init(spec node: JSONNode) throws {
        let path = try #require(node.string ?? node["path"]?.string)
        if let document = try? DocumentPath(path), node["collectionGroup"] == nil {
            self = try ViewQuery(document: document)
            return
        }
        var query = StructuredQuery(try Self.source(path, node["collectionGroup"]?.string))
        let filters = try node["filters"]?.elements?.map { try QueryFilter(spec: $0) } ?? []
        query.filter = filters.count > 1 ? .and(filters) : filters.first
        query.orders = try node["orderBys"]?.elements?.map { try StructuredQuery.Order(spec: $0) } ?? []
        if let limit = node["limit"]?.integer {
            query.limit = node["limitType"]?.string == "LimitToLast" ? .last(Int(limit)) : .first(Int(limit))
        }
        self = try ViewQuery(query)
    }

    private static func source(_ path: String, _ group: String?) throws -> StructuredQuery.Source {
        guard let group else { return .collection(try CollectionPath(path)) }
        return .collectionGroup(try CollectionID(group), below: path.isEmpty ? nil : try DocumentPath(path))
    }
}

extension StructuredQuery.Order {
    fileprivate init(spec node: JSONNode) throws {
        let parts = node.elements?.compactMap(\.string) ?? []
        self.init(.field(try FieldPath(try #require(parts.first))), parts.last == "desc" ? .descending : .ascending)
    }
}

extension QueryFilter {
    fileprivate init(spec node: JSONNode) throws {
        let parts = Array(try #require(node.elements))
        let field = try FieldPath(try #require(parts[0].string))
        let value = try Value(json: parts[2])
        let condition: Condition =
            switch try #require(parts[1].string) {
            case "==": .equal(value)
            case "<": .less(value)
            case "<=": .lessOrEqual(value)
            case ">": .greater(value)
            case ">=": .greaterOrEqual(value)
            case "array-contains": .arrayContains(value)
            default: throw SpecError.unknownOperator
            }
        self = .field(field, condition)
    }
}

enum SpecError: Error {
    case unknownOperator
    case unknownStep(String)
}
