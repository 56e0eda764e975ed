internal import UTF8Text

/// The ID of a client that identifies its commits: 128 random bits. A client's own is a secret, since it gives access to the answers of the
/// commits; the store knows the first 128 bits of its SHA-256 digest.
///
/// The ID of a client that makes its commits within a day, such as a command, begins with six bytes of zero. A store need not remember it for
/// longer, and tells it by these bytes.
package struct CommitClientID: Hashable, Sendable {
    /// The size of an ID.
    package static let byteCount = 16
    /// The length of ``text``.
    package static let textLength = 22

    // Not an array: a store keeps many of them.
    private let high: UInt64
    private let low: UInt64

    /// Creates an ID from its bytes; `nil` if there are not exactly 16.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Parses the 22 characters of unpadded base64url that encode 16 bytes; `nil` for other text.
    package init?(_ text: String) {
        guard text.utf8.count == Self.textLength, let bytes = Base64.url.decode(text.utf8) else { return nil }
        self.init(bytes: bytes)
    }

    /// Creates a random ID.
    package static func random() -> CommitClientID {
        CommitClientID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    }

    /// True if the client makes its commits within a day.
    package var isShortLived: Bool { high >> 16 == 0 }

    /// The ID as that of a client that makes its commits within a day: 80 bits of it are kept.
    package var shortLived: CommitClientID { CommitClientID(high: high & 0xFFFF, low: low) }

    private init(high: UInt64, low: UInt64) {
        (self.high, self.low) = (high, low)
    }

    /// The bytes.
    package var bytes: [UInt8] {
        [high, low].flatMap { word in stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) } }
    }

    /// The ID as unpadded base64url.
    package var text: String { Base64.url.encode(bytes) }
}
