internal import DocumentModel
internal import UTF8Text

extension Evaluator {
    /// Calls a function by its name alone: one that reads a document, or a conversion.
    mutating func call(_ function: GlobalFunction, _ arguments: [NodeID]) throws(EvaluationError) -> RuleValue {
        let argument = try evaluate(arguments, expecting: 1)[0]
        switch function {
        case .get, .getAfter:
            let path = try documentPath(argument, function)
            guard let fields = try read(path.document, path.value, function) else {
                throw EvaluationError(.serviceCall(function: function.rawValue, path.value))
            }
            return .map(RuleMap(resource: fields, at: path.document, in: inputs.database))
        case .exists, .existsAfter:
            let path = try documentPath(argument, function)
            return .boolean(try read(path.document, path.value, function) != nil)
        case .debug:
            if inputs.environment.debug != nil { debugOutput.append(argument.description) }
            return argument
        case .int, .float, .string, .path:
            return try meter.convert(argument, by: function)
        }
    }

    private func documentPath(
        _ argument: RuleValue,
        _ function: GlobalFunction
    ) throws(EvaluationError) -> (document: DocumentPath, value: RulePath) {
        switch argument {
        case .path(let path):
            guard path.isConcrete else { throw EvaluationError(.unknown) }
            guard let document = path.document(in: inputs.database) else {
                throw EvaluationError(.serviceCall(function: function.rawValue, path))
            }
            return (document, path)
        case .symbolic:
            throw EvaluationError(.unknown)
        case .null:
            throw EvaluationError(.nullValue)
        default:
            throw EvaluationError(
                .unsupportedOperation(
                    received: .call(function.rawValue, nil, [argument.type]),
                    expected: "\(function.rawValue)(path)"
                )
            )
        }
    }

    /// Returns the fields of a document, or `nil` if it does not exist.
    private mutating func read(
        _ path: DocumentPath,
        _ value: RulePath,
        _ function: GlobalFunction
    ) throws(EvaluationError) -> MapValue? {
        let isAfterCommit = inputs.isWrite && (function == .getAfter || function == .existsAfter)
        let access = DocumentAccess(path, isAfterCommit: isAfterCommit)
        try accesses.count(access)
        guard let fields = inputs.documents[access] else { throw EvaluationError(.missingDocument(access)) }
        return fields
    }
}

extension RuleMap {
    /// Creates the `resource` of a document.
    init(resource fields: MapValue, at path: DocumentPath, in database: UTF8Key) {
        let members: [(key: UTF8Key, value: RuleValue)] = [
            ("__name__", .path(RulePath(path, in: database))),
            ("data", .map(RuleMap(fields, in: database))),
            ("id", .string(path.id.key)),
        ]
        self.init(members, isMeasured: false)
    }
}
