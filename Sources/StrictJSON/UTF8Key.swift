/// A string that is its UTF-8 bytes: an identifier, field name, method name or token.
///
/// Swift's `String` compares by canonical equivalence, so "é" in two normalisations is one
/// dictionary key, while files, HTTP and JSON tell the two apart. A `UTF8Key` is equal to, hashes
/// as and sorts like its bytes. Scan it through ``utf8``, never through `String` methods.
public struct UTF8Key: Hashable, Comparable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The text, always native contiguous UTF-8.
    public let string: String

    /// Makes a key of the bytes of `string`, unchanged.
    public init(_ string: String) {
        var native = string
        native.makeContiguousUTF8()
        self.string = native
    }

    /// Makes a key of the bytes of `substring`, copied so that it doesn't keep the whole string alive.
    public init(_ substring: Substring) {
        self.init(String(substring))
    }

    /// Makes a key of bytes from outside, or nil when they aren't well-formed UTF-8.
    public init?(validating bytes: some Collection<UInt8>) {
        guard let string = String(validating: bytes, as: UTF8.self) else { return nil }
        self.init(string)
    }

    /// Makes a key of a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// The bytes.
    public var utf8: String.UTF8View { string.utf8 }

    /// How many bytes the key has.
    public var byteCount: Int { string.utf8.count }

    /// The text itself.
    public var description: String { string }
}

extension UTF8Key {
    /// Whether the two have the same bytes.
    public static func == (left: UTF8Key, right: UTF8Key) -> Bool {
        guard left.byteCount == right.byteCount else { return false }
        return left.withBytes { left in
            right.withBytes { right in left.hasSameBytes(as: right) }
        }
    }

    /// Whether `left` sorts before `right`, byte by byte, a prefix first.
    public static func < (left: UTF8Key, right: UTF8Key) -> Bool {
        left.withBytes { left in
            right.withBytes { right in left.precedes(right) }
        }
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        withBytes { bytes in hasher.combineDelimited(bytes) }
    }

    /// Runs `body` over the bytes where they lie.
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        // Native strings always have contiguous storage; the copy is for the type checker.
        string.utf8.withContiguousStorageIfAvailable(body) ?? Array(string.utf8).withUnsafeBufferPointer(body)
    }
}

extension Hasher {
    /// Feeds the bytes and their count, so that neighbouring keys can't run into each other.
    mutating func combineDelimited(_ bytes: UnsafeBufferPointer<UInt8>) {
        combine(bytes.count)
        combine(bytes: UnsafeRawBufferPointer(bytes))
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether both hold the same bytes.
    func hasSameBytes(as other: UnsafeBufferPointer<UInt8>) -> Bool {
        count == other.count && elementsEqual(other)
    }

    /// Whether these bytes sort before the other ones, a prefix first.
    func precedes(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        for index in 0..<Swift.min(count, other.count) where self[index] != other[index] {
            return self[index] < other[index]
        }
        return count < other.count
    }
}
