internal import UTF8Text

extension Meter {
    /// Calls a function of a bytes value.
    mutating func callBytes(
        _ function: ValueFunction,
        _ bytes: [UInt8],
        _ arguments: [RuleValue]
    ) throws(EvaluationError) -> RuleValue {
        switch function {
        case .size:
            return .integer(Int64(bytes.count))
        case .toBase64:
            try charge(bytes.count)
            let padding = String(repeating: "=", count: (3 - bytes.count % 3) % 3)
            return .string(UTF8Key(Base64.url.encode(bytes) + padding))
        case .toHexString:
            try charge(2 * bytes.count)
            return .string(UTF8Key(Hexadecimal.encode(bytes).uppercased()))
        default:
            throw EvaluationError(.functionNotFound(function.rawValue))
        }
    }

    /// Returns the digest of a bytes value or of the bytes of a string.
    mutating func digest(
        _ algorithm: DigestAlgorithm,
        of value: RuleValue,
        _ environment: RulesEnvironment
    ) throws(EvaluationError) -> RuleValue {
        guard let digest = environment.digest else { throw EvaluationError(.functionNotFound(algorithm.rawValue)) }
        let bytes: [UInt8]
        switch value {
        case .bytes(let value): bytes = value
        case .string(let text): bytes = Array(text.utf8)
        default: throw unsupported("hashing.\(algorithm.rawValue)", [value], expecting: "bytes or string")
        }
        try charge(bytes.count)
        return .bytes(digest(algorithm, bytes))
    }
}
