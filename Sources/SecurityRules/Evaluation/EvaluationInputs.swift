internal import DocumentModel
internal import UTF8Text

/// The inputs of an evaluation beside the rules.
struct EvaluationInputs: Sendable {
    let database: UTF8Key
    /// The path that match blocks have to cover.
    let path: RequestPath
    /// The variable `request`.
    let request: RuleMap
    /// The variable `resource`.
    let resource: RuleValue
    /// True for a write, after which documents may differ.
    let isWrite: Bool
    /// The documents read so far; `nil` for those that do not exist.
    var documents: [DocumentAccess: MapValue?]
    let environment: RulesEnvironment

    /// Returns the inputs of a request: one, or for a query one for each disjunct. `nil` if a query has too many.
    static func all(
        of request: RulesRequest,
        documents: [DocumentAccess: MapValue?],
        environment: RulesEnvironment
    ) -> [EvaluationInputs]? {
        func inputs(
            _ path: RequestPath,
            resource: RuleValue,
            _ members: [(key: UTF8Key, value: RuleValue)] = []
        ) -> EvaluationInputs {
            EvaluationInputs(
                database: request.database,
                path: path,
                request: request.variable(path, members),
                resource: resource,
                isWrite: request.operation.isWrite,
                documents: documents,
                environment: environment
            )
        }
        func whole(_ path: DocumentPath) -> RequestPath {
            RequestPath(RulePath.root(of: request.database) + path.segments)
        }
        func resource(_ fields: MapValue?, _ path: DocumentPath) -> RuleValue {
            fields.map { .map(RuleMap(resource: $0, at: path, in: request.database)) } ?? .null
        }
        switch request.operation {
        case .get(let path, let stored):
            return [inputs(whole(path), resource: resource(stored, path))]
        case .listed(let path, let stored, let query):
            return [inputs(whole(path), resource: resource(stored, path), [("query", query.request)])]
        case .create(let path, let written):
            return [inputs(whole(path), resource: .null, [("resource", resource(written, path))])]
        case .update(let path, let stored, let written):
            return [inputs(whole(path), resource: resource(stored, path), [("resource", resource(written, path))])]
        case .delete(let path, let stored):
            return [inputs(whole(path), resource: resource(stored, path), [("resource", .null)])]
        case .list(let query):
            return QueryDisjunct.disjuncts(of: query.query, in: request.database)?.map { disjunct in
                let path = disjunct.document.map(whole) ?? query.path(in: request.database)
                return inputs(path, resource: disjunct.resource(at: path), [("query", query.request)])
            }
        }
    }
}

extension RulesRequest {
    /// Creates the variable `request`.
    fileprivate func variable(_ path: RequestPath, _ members: [(key: UTF8Key, value: RuleValue)]) -> RuleMap {
        let common: [(key: UTF8Key, value: RuleValue)] = [
            ("auth", authentication?.variable ?? .null),
            ("method", .string(UTF8Key(operation.method.rawValue))),
            ("path", path.value),
            ("time", .timestamp(RuleTimestamp(time))),
        ]
        return RuleMap(common + members, isMeasured: false)
    }
}

extension RulesRequest.Operation {
    fileprivate var isWrite: Bool {
        switch self {
        case .create, .update, .delete: true
        case .get, .list, .listed: false
        }
    }
}

extension QueryDisjunct {
    /// Creates the variable `resource`, which is never null in a query.
    fileprivate func resource(at path: RequestPath) -> RuleValue {
        let id = path.gap == nil ? path.segments.last.flatMap(\.self) : nil
        let members: [(key: UTF8Key, value: RuleValue)] = [
            ("__name__", path.value),
            ("data", .map(RuleMap(data))),
            ("id", id.map(RuleValue.string) ?? .symbolic(SymbolicValue(type: .string))),
        ]
        return .map(RuleMap(members, isMeasured: false))
    }
}
