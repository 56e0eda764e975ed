/// Names a history of commits: 128 random bits. Sequence numbers of different epochs don't compare.
struct Epoch: Hashable, Sendable, CustomStringConvertible {
    /// How many bytes an epoch has.
    static let byteCount = 16

    /// The bytes.
    let bytes: [UInt8]

    /// Takes bytes as an epoch; nil when they are not 16.
    init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// Reads 32 lower-case hexadecimal digits.
    init?(_ text: String) {
        guard text.utf8.count == 2 * Self.byteCount else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in text.utf8 {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        self.bytes = bytes
    }

    /// A new epoch, from the system's random numbers.
    static func random() -> Epoch {
        var generator = SystemRandomNumberGenerator()
        return Epoch(unchecked: (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// 32 lower-case hexadecimal digits.
    var description: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
