import Cryptography
import UTF8Text

/// The text of an API key: `fsk_<id>_<secret>`, with 6 and 32 random bytes in lowercase hexadecimal digits.
///
/// The prefix lets secret scanners find leaked keys. The secret has enough entropy for an unsalted hash.
struct APIKeyText: Sendable {
    /// The public identifier of the key.
    let id: UTF8Key
    /// The complete key, known only to its owner.
    let string: String

    static let prefix = "fsk_"
    private static let idBytes = 6
    private static let secretBytes = 32
    private static let separator = UInt8(ascii: "_")
    private static let byteCount = prefix.utf8.count + 2 * idBytes + 1 + 2 * secretBytes

    /// Creates a key from the system's random number generator.
    init() {
        let id = Hexadecimal.random(byteCount: Self.idBytes)
        self.id = UTF8Key(id)
        string = Self.prefix + id + "_" + Hexadecimal.random(byteCount: Self.secretBytes)
    }

    /// Parses a presented key, or returns `nil` if it does not have the form of one.
    init?(_ text: some Collection<UInt8>) {
        guard text.count == Self.byteCount, text.starts(with: Self.prefix.utf8) else { return nil }
        let digits = text.dropFirst(Self.prefix.utf8.count)
        let id = digits.prefix(2 * Self.idBytes)
        let rest = digits.dropFirst(id.count)
        guard id.allSatisfy(\.isLowercaseHexDigit), rest.first == Self.separator,
            rest.dropFirst().allSatisfy(\.isLowercaseHexDigit)
        else {
            return nil
        }
        self.id = UTF8Key(String(decoding: id, as: UTF8.self))
        string = String(decoding: text, as: UTF8.self)
    }

    /// Returns whether text begins like a key and must therefore not be displayed or logged.
    static func hasKeyPrefix(_ text: String) -> Bool {
        text.utf8.starts(with: prefix.utf8)
    }

    /// The stored form of the key: its SHA-256 digest, as computed by `printf %s KEY | sha256sum`.
    var digest: KeyDigest {
        KeyDigest(bytes: Array(SHA256.digest(of: Array(string.utf8))))
    }
}

/// The SHA-256 hash of a key.
struct KeyDigest: Sendable {
    static let byteCount = 32

    fileprivate let bytes: [UInt8]

    fileprivate init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Parses 64 hexadecimal digits, or returns `nil`.
    init?(hexadecimal text: String) {
        guard let bytes = Hexadecimal.decode(text.utf8), bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    var hexadecimal: String {
        Hexadecimal.encode(bytes)
    }

    /// Compares two digests in constant time.
    func matches(_ other: KeyDigest) -> Bool {
        zip(bytes, other.bytes).reduce(UInt8(0)) { difference, pair in difference | (pair.0 ^ pair.1) } == 0
    }
}

extension UInt8 {
    fileprivate var isLowercaseHexDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
    }
}
