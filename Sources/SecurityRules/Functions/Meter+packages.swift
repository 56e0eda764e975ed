internal import DocumentModel
internal import UTF8Text

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

extension Meter {
    /// Calls a function of a package, with the right number of arguments.
    mutating func call(
        _ function: PackageFunction,
        _ arguments: [RuleValue],
        _ environment: RulesEnvironment
    ) throws(EvaluationError) -> RuleValue {
        switch function {
        case .md5: return try digest(.md5, of: arguments[0], environment)
        case .sha256: return try digest(.sha256, of: arguments[0], environment)
        case .crc32: return try digest(.crc32, of: arguments[0], environment)
        case .crc32c: return try digest(.crc32c, of: arguments[0], environment)
        case .abs, .ceil, .floor, .isInfinite, .isNaN, .pow, .round, .sqrt: return try calculate(function, arguments)
        case .durationAbs, .durationTime, .durationValue: return .duration(try makeDuration(function, arguments))
        case .timestampDate, .timestampValue: return .timestamp(try makeTimestamp(function, arguments))
        case .latlngValue:
            let (latitude, longitude) = (
                try float(arguments[0], function, arguments), try float(arguments[1], function, arguments)
            )
            guard let point = try? GeoPoint(validatingLatitude: latitude, longitude: longitude) else {
                throw EvaluationError(.invalidArgument(function: function.rawValue, .list(RuleList(arguments))))
            }
            return .latlng(point)
        }
    }

    private func calculate(_ function: PackageFunction, _ arguments: [RuleValue]) throws(EvaluationError) -> RuleValue {
        if function == .abs, case .integer(let number) = arguments[0] {
            guard number != .min else { throw EvaluationError(.overflow) }
            return .integer(abs(number))
        }
        let number = try float(arguments[0], function, arguments)
        switch function {
        case .abs: return .float(abs(number))
        case .ceil: return .float(number.rounded(.up))
        case .floor: return .float(number.rounded(.down))
        case .isInfinite: return .boolean(number.isInfinite)
        case .isNaN: return .boolean(number.isNaN)
        case .sqrt: return .float(number.squareRoot())
        case .pow: return .float(pow(number, try float(arguments[1], function, arguments)))
        default:
            if case .integer = arguments[0] { return arguments[0] }
            return .integer(Int64(saturating: number.roundedHalfUp))
        }
    }

    private func makeDuration(
        _ function: PackageFunction,
        _ arguments: [RuleValue]
    ) throws(EvaluationError) -> RuleDuration {
        let result: RuleDuration?
        switch (function, arguments[0]) {
        case (.durationAbs, .duration(let duration)):
            result = RuleDuration(nanoseconds: duration.nanoseconds < 0 ? -duration.nanoseconds : duration.nanoseconds)
        case (.durationAbs, _):
            throw unsupported(function.rawValue, arguments, expecting: "duration")
        case (.durationValue, .integer(let count)):
            guard case .string(let unit) = arguments[1] else {
                throw unsupported(function.rawValue, arguments, expecting: "int, string")
            }
            result = RuleDuration(count, unit: unit.string)
        case (.durationValue, _):
            throw unsupported(function.rawValue, arguments, expecting: "int, string")
        default:
            let parts = try integers(function, arguments)
            let seconds = Int128(parts[0]) * 3_600 + Int128(parts[1]) * 60 + Int128(parts[2])
            result = RuleDuration(nanoseconds: seconds * 1_000_000_000 + Int128(parts[3]))
        }
        guard let result else { throw EvaluationError(.invalidArgument(function: function.rawValue, .list(RuleList(arguments)))) }
        return result
    }

    private func makeTimestamp(
        _ function: PackageFunction,
        _ arguments: [RuleValue]
    ) throws(EvaluationError) -> RuleTimestamp {
        let numbers = try integers(function, arguments)
        let result =
            function == .timestampDate
            ? RuleTimestamp(year: numbers[0], month: numbers[1], day: numbers[2])
            : RuleTimestamp(nanoseconds: Int128(numbers[0]) * 1_000_000)
        guard let result else { throw EvaluationError(.invalidArgument(function: function.rawValue, .list(RuleList(arguments)))) }
        return result
    }

    private func integers(_ function: PackageFunction, _ arguments: [RuleValue]) throws(EvaluationError) -> [Int64] {
        var numbers: [Int64] = []
        for argument in arguments {
            guard case .integer(let number) = argument else {
                let expected = arguments.map { _ in "int" }.joined(separator: ", ")
                throw unsupported(function.rawValue, arguments, expecting: expected)
            }
            numbers.append(number)
        }
        return numbers
    }

    private func float(
        _ value: RuleValue,
        _ function: PackageFunction,
        _ arguments: [RuleValue]
    ) throws(EvaluationError) -> Double {
        switch value {
        case .integer(let number): return Double(number)
        case .float(let number): return number
        default:
            let expected = arguments.map { _ in "number" }.joined(separator: ", ")
            throw unsupported(function.rawValue, arguments, expecting: expected)
        }
    }

    /// The error for a function of a package that does not accept its arguments.
    func unsupported(_ function: String, _ arguments: [RuleValue], expecting expected: String) -> EvaluationError {
        if arguments.contains(where: { if case .symbolic = $0 { true } else { false } }) { return EvaluationError(.unknown) }
        if arguments.contains(where: { if case .null = $0 { true } else { false } }) { return EvaluationError(.nullValue) }
        return EvaluationError(
            .unsupportedOperation(
                received: .call(function, nil, arguments.map(\.type)),
                expected: "\(function)(\(expected))"
            )
        )
    }
}

extension Int64 {
    /// Creates the integer part of a number; the nearest integer for one out of range, and 0 for NaN.
    init(saturating number: Double) {
        if number.isNaN {
            self = 0
        } else if number >= 0x1p63 {
            self = .max
        } else if number < -0x1p63 {
            self = .min
        } else {
            self.init(number)
        }
    }
}

extension Double {
    /// The nearest integer; of two equally near ones, the greater.
    fileprivate var roundedHalfUp: Double {
        let down = rounded(.down)
        return self - down >= 0.5 ? down + 1 : down
    }
}
