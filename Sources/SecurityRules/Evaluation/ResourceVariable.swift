internal import DocumentModel
internal import UTF8Text

/// The variable `resource`. The members of a document become values of the language when rules name them.
enum ResourceVariable: Sendable {
    case null
    case document(MapValue, DocumentPath, database: UTF8Key)
    /// Any result of a query.
    case result(RuleMap)

    /// Returns a member.
    func member(_ name: UTF8Key) throws(EvaluationError) -> RuleValue {
        guard case .document(let fields, let path, let database) = self else { return try value.member(name) }
        switch name {
        case "data": return .map(RuleMap(fields, in: database))
        case "id": return .string(path.id.key)
        case "__name__": return .path(RulePath(path, in: database))
        default: throw EvaluationError(.undefinedProperty(name))
        }
    }

    /// The variable as a whole.
    var value: RuleValue {
        switch self {
        case .null: .null
        case .document(let fields, let path, let database): .map(RuleMap(resource: fields, at: path, in: database))
        case .result(let map): .map(map)
        }
    }
}
