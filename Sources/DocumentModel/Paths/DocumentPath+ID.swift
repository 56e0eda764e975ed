public import UTF8Text

extension DocumentPath {
    /// A document ID: the name of a document within its collection.
    ///
    /// 1 to 1,500 bytes of UTF-8 without slashes or NUL, not `.` or `..`, and not of the form `__…__`, except the numeric
    /// IDs `__id<number>__` with a 64-bit number in its shortest form. IDs compare by bytes: composed and decomposed "é"
    /// are different IDs. Numeric IDs sort first, by number, then all others by bytes.
    public struct ID: Hashable, Sendable {
        /// The ID's bytes.
        public let key: UTF8Key

        /// Creates an ID from its text.
        ///
        /// - Throws: ``StatusCode/invalidArgument`` when the text breaks a rule.
        public init(_ string: String) throws(StatusError) {
            let key = UTF8Key(string)
            try Identifier.validate(key.utf8[...], as: .document)
            self.init(unchecked: key)
        }

        /// Creates an ID from bytes, if it consists of printable ASCII characters and begins with neither `_` nor `.`, as nearly
        /// all do; `nil` otherwise.
        package init?(plain bytes: UnsafeBufferPointer<UInt8>) {
            guard Identifier.isPlain(bytes) else { return nil }
            self.init(unchecked: UTF8Key(String(decoding: bytes, as: UTF8.self)))
        }

        /// Creates an ID from a key that was validated as part of a path.
        init(unchecked key: UTF8Key) {
            self.key = key
        }

        /// The characters of automatic IDs.
        private static let automaticAlphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

        /// Returns a new ID of 20 letters and digits from the system's random number generator: 119 bits, so collisions
        /// are not a concern.
        public static func automatic() -> DocumentPath.ID {
            let alphabet = automaticAlphabet
            var generator = SystemRandomNumberGenerator()
            let bytes = (0..<20).map { _ in alphabet[Int.random(in: alphabet.indices, using: &generator)] }
            return DocumentPath.ID(unchecked: UTF8Key(String(decoding: bytes, as: UTF8.self)))
        }

        /// Returns the ID of this form that follows from the first 20 bytes of a digest.
        package static func automatic(from digest: [UInt8]) -> DocumentPath.ID {
            let bytes = digest.prefix(20).map { automaticAlphabet[Int($0) % automaticAlphabet.count] }
            return DocumentPath.ID(unchecked: UTF8Key(String(decoding: bytes, as: UTF8.self)))
        }
    }
}

extension DocumentPath.ID: Comparable, CustomStringConvertible {
    /// Returns whether `left` sorts before `right`.
    public static func < (left: DocumentPath.ID, right: DocumentPath.ID) -> Bool {
        Identifier.compare(left.key.utf8[...], right.key.utf8[...]) == .less
    }

    /// Returns whether this ID sorts before one that ``init(plain:)`` accepts.
    package func precedes(plain bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        Identifier.number(of: key.utf8[...]) != nil || key.withBytes { $0.precedes(bytes) }
    }

    /// The ID's text.
    public var description: String { key.string }
}
