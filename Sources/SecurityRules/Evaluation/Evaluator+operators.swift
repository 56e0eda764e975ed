internal import UTF8Text

extension Evaluator {
    /// Applies an operator to two values.
    @inline(never)
    mutating func apply(
        _ binary: BinaryOperator,
        _ left: RuleValue,
        _ right: RuleValue
    ) throws(EvaluationError) -> RuleValue {
        switch binary {
        case .equal: return .boolean(try isEqual(left, right))
        case .notEqual: return .boolean(try !isEqual(left, right))
        case .less, .lessOrEqual, .greater, .greaterOrEqual: return .boolean(try compare(left, right, by: binary))
        case .in: return .boolean(try isMember(left, of: right))
        case .plus, .minus, .times, .divide, .remainder: return try calculate(binary, left, right)
        }
    }

    private mutating func isEqual(_ left: RuleValue, _ right: RuleValue) throws(EvaluationError) -> Bool {
        guard left.isConcrete, right.isConcrete else {
            guard let result = left.isEqualIfProved(to: right) else { throw EvaluationError(.unknown) }
            return result
        }
        try meter.charge(min(left.weight, right.weight))
        return left.isEqual(to: right)
    }

    private func compare(
        _ left: RuleValue,
        _ right: RuleValue,
        by binary: BinaryOperator
    ) throws(EvaluationError) -> Bool {
        switch (left, right) {
        case (.null, _), (_, .null):
            throw EvaluationError(.nullValue)
        case (.symbolic(let left), let right) where right.isConcrete:
            guard let result = left.compared(by: binary, to: right) else { throw EvaluationError(.unknown) }
            return result
        case (let left, .symbolic(let right)) where left.isConcrete:
            guard let result = right.compared(by: binary.reversed, to: left) else { throw EvaluationError(.unknown) }
            return result
        case (.symbolic, _), (_, .symbolic):
            throw EvaluationError(.unknown)
        default:
            guard let result = RuleValue.areOrdered(left, right, by: binary.relation) else {
                throw unsupported(binary, left, right)
            }
            return result
        }
    }

    private mutating func isMember(_ element: RuleValue, of collection: RuleValue) throws(EvaluationError) -> Bool {
        switch collection {
        case .null:
            throw EvaluationError(.nullValue)
        case .list(let list):
            try meter.charge(list.count)
            guard element.isConcrete, list.isConcrete else {
                guard list.elements.contains(where: { element.isConcrete && $0.isConcrete && $0 == element }) else {
                    throw EvaluationError(.unknown)
                }
                return true
            }
            try meter.charge(list.weight)
            return (0..<list.count).contains { list[$0] == element }
        case .set(let set):
            guard element.isConcrete else { throw EvaluationError(.unknown) }
            try meter.charge(element.weight)
            return set.contains(element)
        case .map(let map):
            if case .symbolic = element { throw EvaluationError(.unknown) }
            guard case .string(let name) = element else { throw unsupported(.in, element, collection) }
            guard let symbolic = map.symbolic else { return map[name] != nil }
            // That a query does not filter by a field does not mean that documents lack it.
            guard symbolic[name] != nil else { throw EvaluationError(.unknown) }
            return true
        case .symbolic(let value):
            guard value.contains(element) else { throw EvaluationError(.unknown) }
            return true
        default:
            throw EvaluationError(.functionNotFound("in"))
        }
    }

    private mutating func calculate(
        _ binary: BinaryOperator,
        _ left: RuleValue,
        _ right: RuleValue
    ) throws(EvaluationError) -> RuleValue {
        switch (left, right) {
        case (.integer(let left), .integer(let right)):
            return .integer(try Self.calculate(binary, left, right))
        case (.float(let left), .float(let right)):
            return .float(Self.calculate(binary, left, right))
        case (.integer(let left), .float(let right)):
            return .float(Self.calculate(binary, Double(left), right))
        case (.float(let left), .integer(let right)):
            return .float(Self.calculate(binary, left, Double(right)))
        case (.string(let left), .string(let right)) where binary == .plus:
            try meter.charge(left.byteCount + right.byteCount)
            return .string(UTF8Key(left.string + right.string))
        case (.null, _), (_, .null):
            throw EvaluationError(.nullValue)
        case (.symbolic, _), (_, .symbolic):
            throw EvaluationError(.unknown)
        default:
            return try calculateTime(binary, left, right)
        }
    }

    private static func calculate(_ binary: BinaryOperator, _ left: Int64, _ right: Int64) throws(EvaluationError) -> Int64 {
        let (result, overflows): (Int64, Bool)
        switch binary {
        case .plus: (result, overflows) = left.addingReportingOverflow(right)
        case .minus: (result, overflows) = left.subtractingReportingOverflow(right)
        case .times: (result, overflows) = left.multipliedReportingOverflow(by: right)
        default:
            guard right != 0 else { throw EvaluationError(.divisionByZero) }
            (result, overflows) =
                binary == .divide ? left.dividedReportingOverflow(by: right) : left.remainderReportingOverflow(dividingBy: right)
        }
        // The remainder of the least integer by -1 is 0, although its quotient overflows.
        guard !overflows || binary == .remainder else { throw EvaluationError(.overflow) }
        return result
    }

    private static func calculate(_ binary: BinaryOperator, _ left: Double, _ right: Double) -> Double {
        switch binary {
        case .plus: left + right
        case .minus: left - right
        case .times: left * right
        case .divide: left / right
        default: left.truncatingRemainder(dividingBy: right)
        }
    }

    private func calculateTime(
        _ binary: BinaryOperator,
        _ left: RuleValue,
        _ right: RuleValue
    ) throws(EvaluationError) -> RuleValue {
        let result: RuleValue?
        switch (left, binary, right) {
        case (.timestamp(let time), .plus, .duration(let duration)), (.duration(let duration), .plus, .timestamp(let time)):
            result = RuleTimestamp(nanoseconds: time.nanoseconds + duration.nanoseconds).map(RuleValue.timestamp)
        case (.timestamp(let time), .minus, .duration(let duration)):
            result = RuleTimestamp(nanoseconds: time.nanoseconds - duration.nanoseconds).map(RuleValue.timestamp)
        case (.timestamp(let left), .minus, .timestamp(let right)):
            result = RuleDuration(nanoseconds: left.nanoseconds - right.nanoseconds).map(RuleValue.duration)
        case (.duration(let left), .plus, .duration(let right)):
            result = RuleDuration(nanoseconds: left.nanoseconds + right.nanoseconds).map(RuleValue.duration)
        case (.duration(let left), .minus, .duration(let right)):
            result = RuleDuration(nanoseconds: left.nanoseconds - right.nanoseconds).map(RuleValue.duration)
        default:
            throw unsupported(binary, left, right)
        }
        guard let result else { throw EvaluationError(.overflow) }
        return result
    }

    /// Returns the value with the opposite sign.
    static func negate(_ value: RuleValue) throws(EvaluationError) -> RuleValue {
        switch value {
        case .integer(let value):
            guard value != .min else { throw EvaluationError(.overflow) }
            return .integer(-value)
        case .float(let value): return .float(-value)
        case .null: throw EvaluationError(.nullValue)
        case .symbolic: throw EvaluationError(.unknown)
        default: throw EvaluationError(.unsupportedOperation(received: .prefix("-", value.type), expected: "-int or -float"))
        }
    }

    private func unsupported(_ binary: BinaryOperator, _ left: RuleValue, _ right: RuleValue) -> EvaluationError {
        EvaluationError(
            .unsupportedOperation(
                received: .infix(binary.rawValue, left.type, right.type),
                expected: binary.expectedOperands
            )
        )
    }
}

extension BinaryOperator {
    fileprivate var expectedOperands: String {
        let pairs: [String] =
            switch self {
            case .plus:
                ["int + int", "float + float", "string + string", "timestamp + duration", "duration + duration"]
            case .minus:
                ["int - int", "float - float", "timestamp - timestamp", "timestamp - duration", "duration - duration"]
            case .in: ["any in list", "any in set", "string in map"]
            case .times, .divide, .remainder: ["int \(rawValue) int", "float \(rawValue) float"]
            default:
                ["number", "string", "bytes", "timestamp", "duration"].map { "\($0) \(rawValue) \($0)" }
            }
        return pairs.joined(separator: ", ")
    }
}
