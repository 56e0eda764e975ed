internal import DocumentModel

/// Names of documents in order, each once.
protocol NameStream: AnyObject {
    /// The name that is next; nil at the end.
    var current: [UInt8]? { get }
    /// Goes to the next name.
    func advance() throws(StatusError)
    /// Goes to the first name that is not before another.
    func seek(_ name: [UInt8]) throws(StatusError)
}

/// Whether a name comes before another.
struct NameOrder {
    let isDescending: Bool

    func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        isDescending ? right.lexicographicallyPrecedes(left) : left.lexicographicallyPrecedes(right)
    }
}

/// The documents with one value in a field, or all documents.
final class CursorNames: NameStream {
    private(set) var current: [UInt8]?
    private let scanning: IndexScanning
    private var scan: IndexScan
    private let order: NameOrder
    private var cursor: IndexCursor

    /// How many rows are passed one by one before the place is looked up.
    private static let steps = 8

    init(_ scan: IndexScan, _ scanning: IndexScanning) throws(StatusError) {
        self.scan = scan
        self.scanning = scanning
        order = NameOrder(isDescending: scan.isDescending)
        cursor = try scanning.snapshot.cursor(scan)
        try advance()
    }

    func advance() throws(StatusError) {
        scanning.rows += 1
        current = try cursor.next() ? cursor.withName { Array($0) } : nil
    }

    func seek(_ name: [UInt8]) throws(StatusError) {
        for _ in 0..<Self.steps {
            guard let current, order.precedes(current, name) else { return }
            try advance()
        }
        guard let current, order.precedes(current, name) else { return }
        let names = scan.names ?? .allNames
        let rest =
            scan.isDescending
            ? Range(from: names.lowerBound.bytes, to: name + [0]) : Range(from: name, to: names.upperBound.bytes)
        scan.names = names.clamped(to: rest)
        cursor = try scanning.snapshot.cursor(scan)
        try advance()
    }
}

/// Names that are known.
final class ListedNames: NameStream {
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

/// The names that are in any of several streams.
final class UnitedNames: NameStream {
    private(set) var current: [UInt8]?
    private let streams: [any NameStream]
    private let order: NameOrder

    init(_ streams: [any NameStream], isDescending: Bool) {
        self.streams = streams
        order = NameOrder(isDescending: isDescending)
        findFirst()
    }

    func advance() throws(StatusError) {
        guard let current else { return }
        for stream in streams where stream.current == current { try stream.advance() }
        findFirst()
    }

    func seek(_ name: [UInt8]) throws(StatusError) {
        for stream in streams { try stream.seek(name) }
        findFirst()
    }

    private func findFirst() {
        current = streams.lazy.compactMap(\.current).min(by: order.precedes)
    }
}

/// The names that are in all of several streams.
final class CommonNames: NameStream {
    private(set) var current: [UInt8]?
    private let streams: [any NameStream]

    init(_ streams: [any NameStream]) throws(StatusError) {
        self.streams = streams
        try meet()
    }

    func advance() throws(StatusError) {
        try streams.first?.advance()
        try meet()
    }

    func seek(_ name: [UInt8]) throws(StatusError) {
        try streams.first?.seek(name)
        try meet()
    }

    /// Lets those behind catch up with the one that is farthest, until all are at the same name.
    private func meet() throws(StatusError) {
        current = nil
        guard var name = streams.first?.current else { return }
        var agreeing = 1
        var index = 0
        while agreeing < streams.count {
            index = (index + 1) % streams.count
            try streams[index].seek(name)
            guard let found = streams[index].current else { return }
            agreeing = found == name ? agreeing + 1 : 1
            name = found
        }
        current = name
    }
}
