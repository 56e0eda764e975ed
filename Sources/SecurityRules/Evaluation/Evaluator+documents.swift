internal import DocumentModel
internal import UTF8Text

extension Evaluator {
    /// Calls a function by its name alone: one that reads a document, or a conversion.
    mutating func call(_ function: GlobalFunction, _ arguments: [NodeID]) throws(EvaluationError) -> RuleValue {
        try call(function, on: evaluate(arguments, expecting: 1)[0])
    }

    // Not inlined, like all that follows the evaluation of operands: its variables would be on the stack at every level.
    @inline(never)
    private mutating func call(_ function: GlobalFunction, on argument: RuleValue) throws(EvaluationError) -> RuleValue {
        switch function {
        case .get, .getAfter:
            let path = try documentPath(argument, function)
            if let result = try mockedResult(function, path.document, path.value) { return result }
            guard let fields = try read(path.document, function) else {
                throw EvaluationError(.serviceCall(function: function.rawValue, path.value))
            }
            return .map(RuleMap(resource: fields, at: path.document, in: inputs.database))
        case .exists, .existsAfter:
            let path = try documentPath(argument, function)
            if let result = try mockedResult(function, path.document, path.value) { return result }
            return .boolean(try read(path.document, function) != nil)
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

    /// Returns the result that a test gives a call, or `nil` if it gives none.
    private mutating func mockedResult(
        _ function: GlobalFunction,
        _ document: DocumentPath,
        _ path: RulePath
    ) throws(EvaluationError) -> RuleValue? {
        trace?.record(DocumentFunctionCall(function: function, path: path))
        guard let mock = inputs.environment.mocks.first(where: { $0.matches(function, path) }) else { return nil }
        try accesses.count(DocumentAccess(document))
        guard let result = mock.result else { throw EvaluationError(.serviceCall(function: function.rawValue, path)) }
        return result
    }

    /// Returns the fields of a document, or `nil` if it does not exist.
    private mutating func read(
        _ path: DocumentPath,
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
