internal import DocumentModel

/// An iterator over distinct document names in ascending or descending order.
protocol SortedNameIterator: AnyObject {
    /// The current name; `nil` at the end.
    var current: [UInt8]? { get }
    /// Advances to the next name.
    func advance() throws(StatusError)
    /// Advances to the first name at or after another.
    func seek(_ name: [UInt8]) throws(StatusError)
}

/// The order of an iterator.
private struct NameOrder {
    let isDescending: Bool

    func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        isDescending ? right.lexicographicallyPrecedes(left) : left.lexicographicallyPrecedes(right)
    }
}

/// The names of an index scan of a single value, or of all documents.
final class CursorNameIterator: SortedNameIterator {
    private(set) var current: [UInt8]?
    private let reader: MeteredIndexReader
    private var scan: IndexScan
    private let order: NameOrder
    private var cursor: any IndexCursor

    init(_ scan: IndexScan, _ reader: MeteredIndexReader) throws(StatusError) {
        self.scan = scan
        self.reader = reader
        order = NameOrder(isDescending: scan.isDescending)
        cursor = try reader.snapshot.cursor(scan, probing: [])
        try advance()
    }

    func advance() throws(StatusError) {
        reader.entriesScanned += 1
        current = try cursor.next() ? cursor.name : nil
    }

    func seek(_ name: [UInt8]) throws(StatusError) {
        for _ in 0..<cursor.cheapStepCount {
            guard let current, order.precedes(current, name) else { return }
            try advance()
        }
        guard let current, order.precedes(current, name) else { return }
        let names = scan.names ?? .allNames
        let rest =
            scan.isDescending
            ? Range(from: names.lowerBound.bytes, to: name + [0]) : Range(from: name, to: names.upperBound.bytes)
        scan.names = names.clamped(to: rest)
        cursor = try reader.snapshot.cursor(scan, probing: [])
        try advance()
    }
}

/// A list of names.
final class ListNameIterator: SortedNameIterator {
    private var names: ArraySlice<[UInt8]>
    private let order: NameOrder

    init(_ names: [[UInt8]], isDescending: Bool) {
        let order = NameOrder(isDescending: isDescending)
        self.names = names.sorted(by: order.precedes)[...]
        self.order = order
    }

    var current: [UInt8]? { names.first }

    func advance() {
        names = names.dropFirst()
    }

    func seek(_ name: [UInt8]) {
        names = names.drop { order.precedes($0, name) }
    }
}

/// The union of several iterators.
final class NameUnionIterator: SortedNameIterator {
    private(set) var current: [UInt8]?
    private let iterators: [any SortedNameIterator]
    private let order: NameOrder

    init(_ iterators: [any SortedNameIterator], isDescending: Bool) {
        self.iterators = iterators
        order = NameOrder(isDescending: isDescending)
        updateCurrent()
    }

    func advance() throws(StatusError) {
        guard let current else { return }
        for iterator in iterators where iterator.current == current { try iterator.advance() }
        updateCurrent()
    }

    func seek(_ name: [UInt8]) throws(StatusError) {
        for iterator in iterators { try iterator.seek(name) }
        updateCurrent()
    }

    private func updateCurrent() {
        current = iterators.lazy.compactMap(\.current).min(by: order.precedes)
    }
}

/// The intersection of several iterators, by a zig-zag merge join: each seeks to the name that another has reached, so that ranges
/// without common names are skipped.
final class ZigZagMergeJoin: SortedNameIterator {
    private(set) var current: [UInt8]?
    private let iterators: [any SortedNameIterator]

    init(_ iterators: [any SortedNameIterator]) throws(StatusError) {
        self.iterators = iterators
        try align()
    }

    func advance() throws(StatusError) {
        try iterators.first?.advance()
        try align()
    }

    func seek(_ name: [UInt8]) throws(StatusError) {
        try iterators.first?.seek(name)
        try align()
    }

    /// Seeks in turn until all iterators are at the same name.
    private func align() throws(StatusError) {
        current = nil
        guard var name = iterators.first?.current else { return }
        var alignedCount = 1
        var index = 0
        while alignedCount < iterators.count {
            index = (index + 1) % iterators.count
            try iterators[index].seek(name)
            guard let found = iterators[index].current else { return }
            alignedCount = found == name ? alignedCount + 1 : 1
            name = found
        }
        current = name
    }
}
