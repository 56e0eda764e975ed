/// One value or key of a parsed text: where it lies and where its next sibling is on the tape.
///
/// The tape lists the entries in source order, an object's members as key, value, key, value.
/// An array's or object's contents follow its own entry directly.
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

    /// The first byte.
    let start: UInt32
    /// The byte after the last one.
    private(set) var end: UInt32
    /// The index of the entry after this one and all that it contains.
    ///
    /// While an array or object is still open, the index of the one around it.
    private(set) var next: UInt32
    /// The kind in the low four bits, above them the number of elements or members.
    private var kindAndCount: UInt32

    /// Stands for "no entry" where the index of an open array or object is asked for.
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
        // Proof: only `init` writes the low four bits, from a Kind.
        Kind(rawValue: kindAndCount & 0b1111)!
    }

    @inline(__always)
    var count: Int { Int(kindAndCount >> 4) }

    @inline(__always)
    mutating func countOneMore() {
        kindAndCount &+= 1 << 4
    }

    @inline(__always)
    mutating func close(end: Int, next: Int) {
        self.end = UInt32(truncatingIfNeeded: end)
        self.next = UInt32(truncatingIfNeeded: next)
    }
}
