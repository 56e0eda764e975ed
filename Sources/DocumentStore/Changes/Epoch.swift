internal import UTF8Text

/// The identity of a history of commits: 128 random bits. Sequence numbers of different epochs are not comparable.
package struct Epoch: Hashable, Sendable, CustomStringConvertible {
    /// The size of an epoch.
    package static let byteCount = 16

    /// The bytes.
    package let bytes: [UInt8]

    /// Creates an epoch from its bytes; `nil` if there are not exactly 16.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// Parses 32 lowercase hexadecimal digits.
    package init?(_ text: String) {
        guard let bytes = Hexadecimal.decode(text.utf8) else { return nil }
        self.init(bytes: bytes)
        guard description.utf8.elementsEqual(text.utf8) else { return nil }
    }

    /// Creates a random epoch.
    package static func random() -> Epoch {
        Epoch(unchecked: RandomBytes.make(byteCount))
    }

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The epoch as 32 lowercase hexadecimal digits.
    package var description: String {
        Hexadecimal.encode(bytes)
    }
}
