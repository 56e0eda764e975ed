internal import UTF8Text

extension Meter {
    /// Converts a value by one of the functions `int`, `float`, `string` and `path`.
    mutating func convert(_ value: RuleValue, by function: GlobalFunction) throws(EvaluationError) -> RuleValue {
        switch value {
        case .symbolic: throw EvaluationError(.unknown)
        case .null where function != .string: throw EvaluationError(.nullValue)
        case .string(let text): try charge(text.byteCount)
        default: break
        }
        switch (function, value) {
        case (.int, .integer), (.float, .float), (.string, .string):
            return value
        case (.int, .float(let number)):
            return .integer(Int64(saturating: number))
        case (.int, .string(let text)):
            guard let number = text.integer else { throw EvaluationError(.conversion(value, to: .int)) }
            return .integer(number)
        case (.float, .integer(let number)):
            return .float(Double(number))
        case (.float, .string(let text)):
            guard let number = text.float else { throw EvaluationError(.conversion(value, to: .float)) }
            return .float(number)
        case (.string, .null), (.string, .boolean), (.string, .integer):
            return .string(UTF8Key(value.description))
        case (.string, .float(let number)):
            return .string(UTF8Key(number.rulesDescription))
        case (.string, .path(let path)):
            guard let text = path.text else { throw EvaluationError(.unknown) }
            return .string(text)
        case (.path, .string(let text)):
            return .path(RulePath(text: text))
        default:
            throw EvaluationError(.conversion(value, to: RuleType(rawValue: function.rawValue) ?? .unknown))
        }
    }
}

extension UTF8Key {
    /// The integer of a text of digits with an optional sign; `nil` for any other text and one out of range.
    fileprivate var integer: Int64? {
        let digits = utf8.first == UInt8(ascii: "-") || utf8.first == UInt8(ascii: "+") ? utf8.dropFirst() : utf8[...]
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        return Int64(string)
    }

    /// The number of a text with blanks around it, in decimal or hexadecimal notation; `nil` for any other text.
    fileprivate var float: Double? {
        let bytes = Array(utf8)
        guard let first = bytes.firstIndex(where: { !$0.isBlank }), let last = bytes.lastIndex(where: { !$0.isBlank }) else {
            return nil
        }
        let text = String(decoding: bytes[first...last], as: UTF8.self)
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
        switch String(Substring(digits)) {
        case "NaN", "Infinity": return Double(text)
        // Swift's parser also knows other names.
        default: return digits.first.map { $0.isDigit || $0 == UInt8(ascii: ".") } == true ? Double(text) : nil
        }
    }
}

extension Double {
    /// The number as the language shows it: always with a fraction or an exponent.
    fileprivate var rulesDescription: String {
        if isNaN { return "NaN" }
        if isInfinite { return self < 0 ? "-Infinity" : "Infinity" }
        return description
    }
}
