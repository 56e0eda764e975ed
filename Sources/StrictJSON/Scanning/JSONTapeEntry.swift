/// A value or key of a parsed text: its byte range, and the tape index of its next sibling.
///
/// The tape holds the entries in source order, and the members of an object as key, value, key, value. The contents of an
/// array or object directly follow its own entry.
struct JSONTapeEntry {
    enum Kind: UInt32 {
        case null
        case `false`
        case `true`
        case integer
        case double
        case string
        case escapedString
        case array
        case object
    }

    /// The offset of the first byte.
    let start: UInt32
    /// The offset after the last byte.
    private(set) var end: UInt32
    /// The tape index after this entry and its contents.
    ///
    /// While an array or object is open, the tape index of the enclosing one.
    private(set) var next: UInt32
    /// The kind in the low four bits, and the number of elements or members above them.
    private var kindAndCount: UInt32

    /// The index that means "no enclosing array or object".
    static let none = Int(UInt32.max)

    @inline(__always)
    init(_ kind: Kind, start: Int, end: Int, next: Int) {
        self.start = UInt32(truncatingIfNeeded: start)
        self.end = UInt32(truncatingIfNeeded: end)
        self.next = UInt32(truncatingIfNeeded: next)
        self.kindAndCount = kind.rawValue
    }

    @inline(__always)
    var kind: Kind {
        // Cannot trap: only `init` writes the low four bits, from a Kind.
        Kind(rawValue: kindAndCount & 0b1111)!
    }

    @inline(__always)
    var count: Int { Int(kindAndCount >> 4) }

    @inline(__always)
    mutating func incrementCount() {
        kindAndCount &+= 1 << 4
    }

    @inline(__always)
    mutating func close(end: Int, next: Int) {
        self.end = UInt32(truncatingIfNeeded: end)
        self.next = UInt32(truncatingIfNeeded: next)
    }
}
