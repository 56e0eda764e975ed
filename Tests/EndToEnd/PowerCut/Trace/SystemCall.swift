import UTF8Text

/// A system call in the output of `strace -f -xx`.
struct SystemCall: Hashable, Sendable {
    let name: UTF8Key
    /// The arguments in order; string arguments are empty.
    let arguments: [String]
    /// The strings in all arguments in order.
    let strings: [Text]
    /// The result; `nil` if the call failed.
    let result: Int?
    /// The lines of the trace in which the call began and returned.
    var begin = 0
    var end = 0

    /// A string argument.
    struct Text: Hashable, Sendable {
        let bytes: [UInt8]
        /// True if strace truncated the string.
        let isTruncated: Bool
    }

    /// The trace cannot be parsed.
    struct SyntaxError: Error, Hashable, CustomStringConvertible {
        let line: String

        init(_ line: some Collection<UInt8>) {
            self.line = String(decoding: line.prefix(200), as: UTF8.self)
        }

        var description: String { "Unexpected strace output: \(line)" }
    }

    /// Parses a complete call without the process ID.
    init(_ line: ArraySlice<UInt8>) throws(SyntaxError) {
        var scanner = SystemCallScanner(line)
        guard let name = scanner.name(), let arguments = scanner.arguments(), let result = scanner.result() else {
            throw SyntaxError(line)
        }
        self.name = name
        self.arguments = arguments
        strings = scanner.strings
        self.result = result.value
    }

    /// Returns a numeric argument.
    func number(_ index: Int) -> Int? {
        arguments.indices.contains(index) ? Int(arguments[index]) : nil
    }
}

private struct SystemCallScanner {
    private let line: ArraySlice<UInt8>
    private var position: Int
    private(set) var strings: [SystemCall.Text] = []

    init(_ line: ArraySlice<UInt8>) {
        self.line = line
        position = line.startIndex
    }

    private var next: UInt8? { position < line.endIndex ? line[position] : nil }

    mutating func name() -> UTF8Key? {
        guard let end = line.firstIndex(of: UInt8(ascii: "(")) else { return nil }
        defer { position = end + 1 }
        return UTF8Key(validating: line[..<end])
    }

    /// Parses the arguments up to the closing parenthesis.
    mutating func arguments() -> [String]? {
        var arguments: [String] = []
        var current: [UInt8] = []
        var depth = 0
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = string() else { return nil }
                strings.append(string)
                continue
            case UInt8(ascii: ")") where depth == 0:
                if !current.isEmpty || !arguments.isEmpty || !strings.isEmpty { arguments.append(Self.text(current)) }
                return arguments
            case UInt8(ascii: ",") where depth == 0:
                arguments.append(Self.text(current))
                current = []
                continue
            case UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "("): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ")"): depth -= 1
            default: break
            }
            current.append(byte)
        }
        return nil
    }

    /// Parses the result after `=`: a number, or `-1` or `?` with the error.
    mutating func result() -> (value: Int?, Void)? {
        guard let sign = line[position...].firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let rest = line[(sign + 1)...].drop { $0 == UInt8(ascii: " ") }
        let word = rest.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "<") }
        if word.elementsEqual("?".utf8) { return (nil, ()) }
        let isHexadecimal = word.starts(with: "0x".utf8)
        let digits = String(decoding: isHexadecimal ? word.dropFirst(2) : word, as: UTF8.self)
        guard let number = Int(digits, radix: isHexadecimal ? 16 : 10) else { return nil }
        return (number < 0 ? nil : number, ())
    }

    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
    }

    /// Parses a string in `\x` notation, after its opening quote.
    private mutating func string() -> SystemCall.Text? {
        let rest = line[position...]
        guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        let escaped = line[position..<end]
        guard escaped.count.isMultiple(of: 4) else { return nil }
        let bytes = escaped.withUnsafeBufferPointer { escaped in
            [UInt8](unsafeUninitializedCapacity: escaped.count / 4) { buffer, count in
                while count < escaped.count / 4, let high = Self.digit(escaped[4 * count + 2]),
                    let low = Self.digit(escaped[4 * count + 3])
                {
                    buffer[count] = high << 4 | low
                    count += 1
                }
            }
        }
        guard bytes.count == escaped.count / 4 else { return nil }
        position = end + 1
        let dots = Array("...".utf8)
        let isTruncated = line[position...].starts(with: dots)
        if isTruncated { position += dots.count }
        return SystemCall.Text(bytes: bytes, isTruncated: isTruncated)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
