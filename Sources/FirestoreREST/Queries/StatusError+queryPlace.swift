import DocumentModel
import StrictJSON

extension NormalizedQuery {
    /// Reads a structured query and checks it by all rules; what is wrong is told with its place in the message.
    init(
        _ node: JSONNode,
        below parent: DocumentPath?,
        in database: DatabaseName,
        aggregating fields: [FieldPath] = []
    ) throws(StatusError) {
        let query = try Query(node, below: parent, in: database)
        do throws(StatusError) {
            try self.init(query, aggregating: fields)
        } catch {
            throw error.placed(in: query)
        }
    }
}

extension StatusError {
    /// The same error with its place in the protocol's message in place of that in Hearth's own form of a query.
    fileprivate func placed(in query: Query) -> StatusError {
        var error = self
        error.place = place.map { QueryStep.protocolPlace(of: QueryStep.steps(of: $0), in: query) }
        return error
    }

    /// The same error with the place of an aggregation as the protocol's message has it.
    func placedInAggregations() -> StatusError {
        var error = self
        guard let place, let last = QueryStep.steps(of: place).last else { return error }
        switch last.name {
        case "average": error.place = String(decoding: place.utf8.dropLast("average".utf8.count), as: UTF8.self) + "avg.field"
        case "sum": error.place = place + ".field"
        default: break
        }
        return error
    }
}

/// A step of a place such as `where.and[0].op`: a name, and the indices behind it as they are written.
private struct QueryStep {
    let name: UTF8Key
    let indices: String

    static func steps(of place: String) -> [QueryStep] {
        place.utf8.split(separator: UInt8(ascii: ".")).map { part in
            let name = part.prefix { $0 != UInt8(ascii: "[") }
            return QueryStep(
                name: UTF8Key(String(Substring(name))),
                indices: String(Substring(part.dropFirst(name.count)))
            )
        }
    }

    /// The first index; nil when there is none.
    private var index: Int? {
        Int(String(decoding: indices.utf8.dropFirst().prefix { $0 != UInt8(ascii: "]") }, as: UTF8.self))
    }

    static func protocolPlace(of steps: [QueryStep], in query: Query) -> String {
        guard let first = steps.first else { return "" }
        switch first.name {
        case "where":
            return "where" + filterPlace(of: steps.dropFirst(), in: query.filter)
        case "startAfter":
            return "startAt" + text(steps.dropFirst())
        case "endBefore":
            return "endAt" + text(steps.dropFirst())
        case "select":
            return "select.fields" + first.indices
        case "findNearest":
            return "findNearest" + text(steps.dropFirst().map(\.ofVectorSearch))
        default:
            return first.name.string + first.indices + text(steps.dropFirst())
        }
    }

    private static func text(_ steps: some Sequence<QueryStep>) -> String {
        steps.map { ".\($0.name.string)\($0.indices)" }.joined()
    }

    private var ofVectorSearch: QueryStep {
        switch name {
        case "field": QueryStep(name: "vectorField", indices: indices)
        case "vector": QueryStep(name: "queryVector", indices: indices)
        default: self
        }
    }

    private static func filterPlace(of steps: some Sequence<QueryStep>, in filter: Filter?) -> String {
        var filter = filter
        var place = ""
        for step in steps {
            switch filter {
            case .and(let filters)?, .or(let filters)?:
                place += ".compositeFilter" + (step.indices.isEmpty ? "" : ".filters\(step.indices)")
                filter = step.index.flatMap { filters.indices.contains($0) ? filters[$0] : nil }
            case .field(_, let condition)?:
                place += condition.isUnary ? ".unaryFilter" : ".fieldFilter"
                place += ".\(step.name.string)" + (step.indices.isEmpty ? "" : ".arrayValue.values\(step.indices)")
                filter = nil
            case nil:
                place += ".\(step.name.string)\(step.indices)"
            }
        }
        return place
    }
}

extension Condition {
    /// Whether clients state the condition by a unary filter.
    fileprivate var isUnary: Bool {
        switch self {
        case .equal(.null), .notEqual(.null): true
        case .equal(.double(let value)), .notEqual(.double(let value)): value.isNaN
        default: false
        }
    }
}
