import DocumentModel
import HearthAPI
import JSONRPC
import StrictJSON
import UTF8Text

/// A query as source code for a client library.
struct QueryCode: ViewModel {
    /// The client libraries.
    enum Library: CaseIterable, Sendable {
        /// Hearth's Swift client, which has the API of Firestore's SDK for Apple platforms.
        case swift
        /// Firestore's Web SDK.
        case javaScript
        /// The Python package google-cloud-firestore.
        case python

        var name: String {
            switch self {
            case .swift: "Swift"
            case .javaScript: "JavaScript"
            case .python: "Python"
            }
        }
    }

    /// A part of a query for which no code is made, mostly since the library has no equivalent.
    struct UnsupportedFeature: Error {
        /// The name of the parameter, or the operator or value.
        let name: String
    }

    /// The language of the library.
    private let language: String
    /// The `id` of the element with the code.
    private let codeID: String
    private let code: String?
    /// The part of the query for which no code is made; `nil` if there is code.
    private let unsupportedFeature: String?

    /// Creates the code for a query in a library.
    init(_ query: StructuredQuery, for library: Library) {
        language = library.name
        codeID = "code-\(library)"
        do throws(UnsupportedFeature) {
            code = try Self.code(for: query, in: library)
            unsupportedFeature = nil
        } catch {
            code = nil
            unsupportedFeature = error.name
        }
    }

    /// Returns the code for the parameters of `query.run` in each library; empty if they are invalid.
    static func all(params: [UInt8]) -> [QueryCode] {
        guard let arguments = try? Arguments(json: params, of: RunQuery.self),
            let query = try? QueryParameters.query(from: arguments)
        else { return [] }
        return Library.allCases.map { QueryCode(query, for: $0) }
    }

    /// Returns the code for a query.
    static func code(for query: StructuredQuery, in library: Library) throws(UnsupportedFeature) -> String {
        if query.vectorSearch != nil { throw UnsupportedFeature(name: "findNearest") }
        if query.start != nil { throw UnsupportedFeature(name: "startAt, startAfter") }
        if query.end != nil { throw UnsupportedFeature(name: "endAt, endBefore") }
        switch query.limit {
        case .first(0), .last(0): throw UnsupportedFeature(name: "limit: 0")
        default: break
        }
        var query = query
        query.filter = query.filter.map { $0.flattened.resolvingNames(in: query.source) }
        return switch library {
        case .swift: try SwiftQueryCode().code(for: query)
        case .javaScript: try JavaScriptQueryCode().code(for: query)
        case .python: try PythonQueryCode().code(for: query)
        }
    }
}

extension StructuredQuery.Source {
    /// Returns the path of the collection, or the ID of the collection group.
    ///
    /// - Throws: An error for sources below a document, which the libraries lack.
    func collection() throws(QueryCode.UnsupportedFeature) -> (name: String, isGroup: Bool) {
        switch self {
        case .collection(let path): (path.string, false)
        case .collectionGroup(let id, nil): (id.key.string, true)
        case .collectionGroup: throw QueryCode.UnsupportedFeature(name: "parent")
        case .descendants: throw QueryCode.UnsupportedFeature(name: "allDescendants")
        }
    }

    /// Returns the reference that an ID or a path names; other values are unchanged.
    fileprivate func reference(_ value: Value) -> Value {
        guard case .string(let name) = value else { return value }
        let path: DocumentPath? =
            if case .collection(let collection) = self {
                (try? DocumentPath.ID(name)).map { collection.document($0) }
            } else {
                try? DocumentPath(name)
            }
        return path.map { .reference($0) } ?? value
    }
}

extension QueryFilter {
    /// The filter without groups of one filter and without groups directly inside groups of the same kind.
    fileprivate var flattened: QueryFilter {
        switch self {
        case .field: return self
        case .and(let filters):
            let parts = filters.map(\.flattened).flatMap { if case .and(let inner) = $0 { inner } else { [$0] } }
            return parts.count == 1 ? parts[0] : .and(parts)
        case .or(let filters):
            let parts = filters.map(\.flattened).flatMap { if case .or(let inner) = $0 { inner } else { [$0] } }
            return parts.count == 1 ? parts[0] : .or(parts)
        }
    }

    /// The filters of which all must match.
    var conjuncts: [QueryFilter] {
        if case .and(let filters) = self { filters } else { [self] }
    }

    /// Returns the filter with references instead of the IDs and paths that `__name__` is compared with.
    fileprivate func resolvingNames(in source: StructuredQuery.Source) -> QueryFilter {
        switch self {
        case .and(let filters): .and(filters.map { $0.resolvingNames(in: source) })
        case .or(let filters): .or(filters.map { $0.resolvingNames(in: source) })
        case .field(let field, let condition) where field.isDocumentName:
            .field(field, condition.mapValues { source.reference($0) })
        case .field: self
        }
    }
}

extension Condition {
    fileprivate func mapValues(_ transform: (Value) -> Value) -> Condition {
        switch self {
        case .equal(let value): .equal(transform(value))
        case .notEqual(let value): .notEqual(transform(value))
        case .less(let value): .less(transform(value))
        case .lessOrEqual(let value): .lessOrEqual(transform(value))
        case .greater(let value): .greater(transform(value))
        case .greaterOrEqual(let value): .greaterOrEqual(transform(value))
        case .in(let values): .in(values.map(transform))
        case .notIn(let values): .notIn(values.map(transform))
        case .arrayContains, .arrayContainsAny, .near, .within: self
        }
    }
}
