public import StrictJSON

/// The name of a document in its collection.
///
/// 1 to 1,500 bytes of UTF-8 without slash and NUL, not `.` or `..`, and not of the form `__…__`, except the numeric
/// ids `__id<number>__` with a 64-bit number in its shortest form. Ids are their bytes: composed and decomposed "é" are
/// two ids. In order the numeric ids come first, by number, then all others by bytes.
public struct DocumentID: Hashable, Sendable {
    /// The id's bytes.
    public let key: UTF8Key

    /// Takes a text as an id.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when it breaks a rule.
    public init(_ string: String) throws(StatusError) {
        let key = UTF8Key(string)
        try Identifier.validate(key.utf8[...], as: .document)
        self.init(unchecked: key)
    }

    /// For a key that was checked as part of a path.
    init(unchecked key: UTF8Key) {
        self.key = key
    }

    /// Makes a new id of 20 letters and digits from the system's random numbers: 119 bits, so it meets no other.
    public static func automatic() -> DocumentID {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<20).map { _ in alphabet[Int.random(in: alphabet.indices, using: &generator)] }
        return DocumentID(unchecked: UTF8Key(String(decoding: bytes, as: UTF8.self)))
    }
}

extension DocumentID: Comparable, CustomStringConvertible {
    /// Whether `left` comes first in the order of ids.
    public static func < (left: DocumentID, right: DocumentID) -> Bool {
        Identifier.compare(left.key.utf8[...], right.key.utf8[...]) == .less
    }

    /// The id itself.
    public var description: String { key.string }
}
