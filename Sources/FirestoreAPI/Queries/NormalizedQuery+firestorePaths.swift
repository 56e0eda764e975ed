package import DocumentModel
import UTF8Text

extension NormalizedQuery {
    /// Validates and normalizes the query of a message. Errors carry paths in the message.
    package init(firestore query: StructuredQuery, aggregating fields: [FieldPath] = []) throws(StatusError) {
        do throws(StatusError) {
            try self.init(query, aggregating: fields)
        } catch {
            throw error.withProtoPath(in: query)
        }
    }
}

extension StatusError {
    /// Returns the error with its path in Hearth's JSON form of a query translated to that in the request message.
    fileprivate func withProtoPath(in query: StructuredQuery) -> StatusError {
        var error = self
        error.parameterPath = parameterPath.map { PathSegment.protoPath(of: PathSegment.segments(of: $0), in: query) }
        return error
    }

    /// Returns the error with the path of an aggregation translated to that in the request message.
    func withProtoAggregationPath() -> StatusError {
        var error = self
        guard let parameterPath, let last = PathSegment.segments(of: parameterPath).last else { return error }
        switch last.name {
        case "average":
            error.parameterPath = String(decoding: parameterPath.utf8.dropLast("average".utf8.count), as: UTF8.self) + "avg.field"
        case "sum": error.parameterPath = parameterPath + ".field"
        default: break
        }
        return error
    }
}

/// A segment of a path such as `where.and[0].op`: a name and the indices that follow it.
private struct PathSegment {
    let name: UTF8Key
    let indices: String

    static func segments(of path: String) -> [PathSegment] {
        path.utf8.split(separator: UInt8(ascii: ".")).map { part in
            let name = part.prefix { $0 != UInt8(ascii: "[") }
            return PathSegment(
                name: UTF8Key(String(Substring(name))),
                indices: String(Substring(part.dropFirst(name.count)))
            )
        }
    }

    /// The first index, or `nil` if there is none.
    private var index: Int? {
        Int(String(decoding: indices.utf8.dropFirst().prefix { $0 != UInt8(ascii: "]") }, as: UTF8.self))
    }

    static func protoPath(of segments: [PathSegment], in query: StructuredQuery) -> String {
        guard let first = segments.first else { return "" }
        switch first.name {
        case "where":
            return "where" + filterPath(of: segments.dropFirst(), in: query.filter)
        case "startAfter":
            return "startAt" + text(segments.dropFirst())
        case "endBefore":
            return "endAt" + text(segments.dropFirst())
        case "select":
            return "select.fields" + first.indices
        case "findNearest":
            return "findNearest" + text(segments.dropFirst().map(\.inFindNearest))
        default:
            return first.name.string + first.indices + text(segments.dropFirst())
        }
    }

    private static func text(_ segments: some Sequence<PathSegment>) -> String {
        segments.map { ".\($0.name.string)\($0.indices)" }.joined()
    }

    private var inFindNearest: PathSegment {
        switch name {
        case "field": PathSegment(name: "vectorField", indices: indices)
        case "vector": PathSegment(name: "queryVector", indices: indices)
        default: self
        }
    }

    private static func filterPath(of segments: some Sequence<PathSegment>, in filter: QueryFilter?) -> String {
        var filter = filter
        var path = ""
        for segment in segments {
            switch filter {
            case .and(let filters)?, .or(let filters)?:
                path += ".compositeFilter" + (segment.indices.isEmpty ? "" : ".filters\(segment.indices)")
                filter = segment.index.flatMap { filters.indices.contains($0) ? filters[$0] : nil }
            case .field(_, let condition)?:
                path += condition.isUnary ? ".unaryFilter" : ".fieldFilter"
                path += ".\(segment.name.string)" + (segment.indices.isEmpty ? "" : ".arrayValue.values\(segment.indices)")
                filter = nil
            case nil:
                path += ".\(segment.name.string)\(segment.indices)"
            }
        }
        return path
    }
}

extension Condition {
    /// True if the protocol expresses the condition as a unary filter.
    fileprivate var isUnary: Bool {
        switch self {
        case .equal(.null), .notEqual(.null): true
        case .equal(.double(let value)), .notEqual(.double(let value)): value.isNaN
        default: false
        }
    }
}
