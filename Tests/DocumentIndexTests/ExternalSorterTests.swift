import QueryEngine
import StorageIO
import TestSupport
import Testing

@testable import DocumentIndex

@Suite("The external sorter")
struct ExternalSorterTests {
    /// An entry, in index order.
    private struct Entry: Hashable, Comparable {
        let space: Int64
        let value: [UInt8]
        let name: [UInt8]

        static func < (left: Entry, right: Entry) -> Bool {
            if left.space != right.space { return left.space < right.space }
            if left.value != right.value { return left.value.lexicographicallyPrecedes(right.value) }
            return left.name.lexicographicallyPrecedes(right.name)
        }
    }

    /// A change to an entry; a removal has no kind of number.
    private struct Change: Hashable {
        let isAddition: Bool
        let isDouble: Bool
    }

    private let folder: TemporaryFolder
    private let sorter: ExternalSorter
    private let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"

    init() throws {
        folder = try TemporaryFolder()
        sorter = ExternalSorter(try FileDescriptor.folder(atPath: folder.path).openFile("runs", for: .creating))
    }

    @Test(arguments: [0, 1, 2, 3, 17])
    func `The sorter returns entries in index order, each with its last change`(runs: Int) throws {
        var generator = SeededGenerator()
        var last: [Entry: Change] = [:]
        for _ in 0..<runs {
            var changes = EntryChangeBuffer()
            for _ in 0..<2_000 {
                let name = Self.bytes(0...2, &generator)
                let slot = Int64.random(in: 0...2, using: &generator)
                let value = Self.bytes(0...12, &generator)
                let isAddition = Bool.random(using: &generator)
                let isDouble = isAddition && Bool.random(using: &generator)
                Self.add(slot: slot, value, name, isAddition, isDouble: isDouble, to: &changes)
                let entry = Entry(space: IndexSpace(scope: 1, slot: slot).id, value: value, name: name)
                last[entry] = Change(isAddition: isAddition, isDouble: isDouble)
            }
            try sorter.add(&changes)
            #expect(changes.isEmpty)
        }
        var merged: [(entry: Entry, change: Change)] = []
        try sorter.merge { change in
            let entry = Entry(space: change.space, value: Array(change.value), name: Array(change.name))
            merged.append((entry, Change(isAddition: change.isAddition, isDouble: change.isAddition && change.isDouble)))
        }
        #expect(merged.map(\.entry) == last.keys.sorted(), seed)
        #expect(merged.allSatisfy { last[$0.entry] == $0.change }, seed)
    }

    @Test
    func `The sorter reads entries that are longer than the buffer`() throws {
        let values = (0..<4).map { [UInt8](repeating: UInt8($0), count: 150_000 * ($0 + 1)) }
        for value in values.reversed() {
            var changes = EntryChangeBuffer()
            Self.add(slot: 2, value, [1], true, to: &changes)
            try sorter.add(&changes)
        }
        var merged: [[UInt8]] = []
        try sorter.merge { merged.append(Array($0.value)) }
        #expect(merged == values)
    }

    @Test
    func `The sorter throws an error when the file was truncated`() throws {
        var changes = EntryChangeBuffer()
        Self.add(slot: 2, [1, 2, 3], [1], true, to: &changes)
        try sorter.add(&changes)
        try FileDescriptor.folder(atPath: folder.path).openFile("runs", for: .updating).truncate(to: 18)
        #expect(throws: FileSystemError.self) { try sorter.merge { _ in } }
    }

    private static func add(
        slot: Int64,
        _ value: [UInt8],
        _ name: [UInt8],
        _ isAddition: Bool,
        isDouble: Bool = false,
        to changes: inout EntryChangeBuffer
    ) {
        let entries = IndexEntries(sorting: [IndexEntries.Entry(slot: slot, value: 0..<value.count, isDouble: isDouble)], value)
        let collection = IndexCatalog.CollectionScopes(collection: 1, group: nil)
        let scopes = changes.append(IndexWriter.Names(scopes: collection, path: name, idStart: 0))
        if isAddition {
            changes.append(from: IndexEntries(), to: entries, scopes: scopes)
        } else {
            changes.append(from: entries, to: IndexEntries(), scopes: scopes)
        }
    }

    /// Returns one of a few different byte sequences, many with a common prefix.
    private static func bytes(_ count: ClosedRange<Int>, _ generator: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: count, using: &generator)).map { $0 < 8 ? 7 : UInt8.random(in: 0...1, using: &generator) }
    }
}
