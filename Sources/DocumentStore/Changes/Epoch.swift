import DocumentModel

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
        guard let bytes = Hexadecimal.decode(text.utf8) else { return nil }
        self.init(bytes: bytes)
        guard description.utf8.elementsEqual(text.utf8) else { return nil }
    }

    /// A new epoch, from the system's random numbers.
    static func random() -> Epoch {
        Epoch(unchecked: RandomBytes.make(byteCount))
    }

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// 32 lower-case hexadecimal digits.
    var description: String {
        Hexadecimal.encode(bytes)
    }
}
