import Crypto
import DocumentModel
import StrictJSON

/// The text by which a caller shows who it is: `fsk_<id>_<secret>`, small hexadecimal digits of 6 and of 32 random bytes.
///
/// The prefix lets scanners find keys that got where they don't belong. The secret has so much chance in it that a plain hash
/// of the text keeps it.
struct KeySecret: Sendable {
    /// Names the key; no secret.
    let id: UTF8Key
    /// All of it, which nobody but its owner gets to see.
    let text: String

    static let prefix = "fsk_"
    private static let idBytes = 6
    private static let secretBytes = 32
    private static let separator = UInt8(ascii: "_")
    private static let byteCount = prefix.utf8.count + 2 * idBytes + 1 + 2 * secretBytes

    /// Makes a new one of the system's random numbers.
    init() {
        let id = Hexadecimal.random(byteCount: Self.idBytes)
        self.id = UTF8Key(id)
        text = Self.prefix + id + "_" + Hexadecimal.random(byteCount: Self.secretBytes)
    }

    /// Takes what a caller shows; nil when it is not of the form.
    init?(_ text: some Collection<UInt8>) {
        guard text.count == Self.byteCount, text.starts(with: Self.prefix.utf8) else { return nil }
        let digits = text.dropFirst(Self.prefix.utf8.count)
        let id = digits.prefix(2 * Self.idBytes)
        let rest = digits.dropFirst(id.count)
        guard id.allSatisfy(\.isSmallDigit), rest.first == Self.separator, rest.dropFirst().allSatisfy(\.isSmallDigit) else {
            return nil
        }
        self.id = UTF8Key(String(decoding: id, as: UTF8.self))
        self.text = String(decoding: text, as: UTF8.self)
    }

    /// Whether a text begins as keys do, so that it must not be shown.
    static func isSimilar(to text: String) -> Bool {
        text.utf8.starts(with: prefix.utf8)
    }

    /// What is kept of it: the SHA-256 of the text, as `printf %s KEY | sha256sum` gives it.
    var digest: KeyDigest {
        KeyDigest(bytes: Array(SHA256.hash(data: Array(text.utf8))))
    }
}

/// The hash of a key.
struct KeyDigest: Sendable {
    static let byteCount = 32

    fileprivate let bytes: [UInt8]

    fileprivate init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads 64 digits; nil when they are not.
    init?(hexadecimal text: String) {
        guard let bytes = Hexadecimal.decode(text.utf8), bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    var hexadecimal: String {
        Hexadecimal.encode(bytes)
    }

    /// Whether both are the same. It takes the same time however many of their bytes are.
    func matches(_ other: KeyDigest) -> Bool {
        zip(bytes, other.bytes).reduce(UInt8(0)) { difference, pair in difference | (pair.0 ^ pair.1) } == 0
    }
}

extension UInt8 {
    fileprivate var isSmallDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
    }
}
