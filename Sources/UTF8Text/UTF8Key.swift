/// A string compared by its UTF-8 bytes: an identifier, field name, method name or token.
///
/// Swift's `String` compares by canonical equivalence, so "é" in two normalization forms is one dictionary key, while
/// files, HTTP and JSON distinguish the two. A `UTF8Key` compares, hashes and sorts by its bytes. Scan it through
/// ``utf8``, not through `String` methods.
public struct UTF8Key: Hashable, Comparable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The text, always in native contiguous UTF-8.
    public let string: String

    /// Creates a key from a string, without normalizing it.
    @inlinable
    public init(_ string: String) {
        var native = string
        native.makeContiguousUTF8()
        self.string = native
    }

    /// Creates a key from a copy of a substring, which does not keep the whole string alive.
    public init(_ substring: Substring) {
        self.init(String(substring))
    }

    /// Creates a key from untrusted bytes, or `nil` if they are not well-formed UTF-8.
    @inlinable
    public init?(validating bytes: some Collection<UInt8>) {
        guard let string = String(validating: bytes, as: UTF8.self) else { return nil }
        self.init(string)
    }

    /// Creates a key from a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// The UTF-8 bytes.
    @inlinable public var utf8: String.UTF8View { string.utf8 }

    /// The length in bytes.
    @inlinable public var byteCount: Int { string.utf8.count }

    /// The text.
    public var description: String { string }
}

extension UTF8Key {
    /// Returns whether both have the same bytes.
    @inlinable
    public static func == (left: UTF8Key, right: UTF8Key) -> Bool {
        guard left.byteCount == right.byteCount else { return false }
        return left.withBytes { left in
            right.withBytes { right in left.hasSameBytes(as: right) }
        }
    }

    /// Returns whether `left` sorts before `right` in byte order; a prefix sorts first.
    @inlinable
    public static func < (left: UTF8Key, right: UTF8Key) -> Bool {
        left.withBytes { left in
            right.withBytes { right in left.precedes(right) }
        }
    }

    /// Hashes the bytes.
    @inlinable
    public func hash(into hasher: inout Hasher) {
        withBytes { bytes in hasher.combineDelimited(bytes) }
    }

    /// Calls `body` with the bytes, without copying them.
    @inlinable
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        // Native strings always have contiguous storage, so the copy never happens.
        string.utf8.withContiguousStorageIfAvailable(body) ?? Array(string.utf8).withUnsafeBufferPointer(body)
    }
}

extension Hasher {
    /// Combines the bytes and their count, so that adjacent keys cannot be confused.
    @inlinable
    package mutating func combineDelimited(_ bytes: UnsafeBufferPointer<UInt8>) {
        combine(bytes.count)
        combine(bytes: UnsafeRawBufferPointer(bytes))
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns whether both hold the same bytes.
    @inlinable
    package func hasSameBytes(as other: UnsafeBufferPointer<UInt8>) -> Bool {
        count == other.count && elementsEqual(other)
    }

    /// Returns whether these bytes sort before `other`; a prefix sorts first.
    @inlinable
    package func precedes(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        for index in 0..<Swift.min(count, other.count) where self[index] != other[index] {
            return self[index] < other[index]
        }
        return count < other.count
    }
}
