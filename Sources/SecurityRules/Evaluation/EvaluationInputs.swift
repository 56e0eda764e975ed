internal import DocumentModel
internal import UTF8Text

/// The inputs of an evaluation beside the rules.
struct EvaluationInputs: Sendable {
    let database: UTF8Key
    /// The path that match blocks have to cover.
    let path: RequestPath
    let request: RequestVariable
    let resource: ResourceVariable
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
            resource: ResourceVariable,
            _ part: RequestVariable.OperationPart = .none
        ) -> EvaluationInputs {
            EvaluationInputs(
                database: request.database,
                path: path,
                request: RequestVariable(
                    authentication: request.authentication?.variable ?? .null,
                    method: request.operation.method,
                    path: path,
                    time: request.time,
                    operationPart: part
                ),
                resource: resource,
                isWrite: request.operation.isWrite,
                documents: documents,
                environment: environment
            )
        }
        func whole(_ path: DocumentPath) -> RequestPath {
            RequestPath(RulePath.root(of: request.database) + path.segments)
        }
        func resource(_ fields: MapValue?, _ path: DocumentPath) -> ResourceVariable {
            fields.map { .document($0, path, database: request.database) } ?? .null
        }
        switch request.operation {
        case .get(let path, let stored):
            return [inputs(whole(path), resource: resource(stored, path))]
        case .listed(let path, let stored, let query):
            return [inputs(whole(path), resource: resource(stored, path), .query(query.request))]
        case .create(let path, let written):
            return [inputs(whole(path), resource: .null, .resource(resource(written, path)))]
        case .update(let path, let stored, let written):
            return [inputs(whole(path), resource: resource(stored, path), .resource(resource(written, path)))]
        case .delete(let path, let stored):
            return [inputs(whole(path), resource: resource(stored, path), .resource(.null))]
        case .list(let query):
            return QueryDisjunct.disjuncts(of: query.query, in: request.database)?.map { disjunct in
                let path = disjunct.document.map(whole) ?? query.path(in: request.database)
                return inputs(path, resource: disjunct.resource(at: path), .query(query.request))
            }
        }
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
    fileprivate func resource(at path: RequestPath) -> ResourceVariable {
        let id = path.gap == nil ? path.segments.last.flatMap(\.self) : nil
        let members: [(key: UTF8Key, value: RuleValue)] = [
            ("__name__", path.value),
            ("data", .map(RuleMap(data))),
            ("id", id.map(RuleValue.string) ?? .symbolic(SymbolicValue(type: .string))),
        ]
        return .result(RuleMap(members, isMeasured: false))
    }
}
