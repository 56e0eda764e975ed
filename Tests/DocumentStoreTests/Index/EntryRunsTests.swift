import TestSupport
import Testing

@testable import DocumentStore

@Suite("Entries that are sorted by way of a file")
struct EntryRunsTests {
    /// An entry, ordered as the index orders them.
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

    private let folder: TemporaryFolder
    private let file: EntryRuns
    private let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"

    init() throws {
        folder = try TemporaryFolder()
        file = EntryRuns(try FileDescriptor.folder(atPath: folder.path).openFile("runs", for: .creating))
    }

    @Test("Come in their order, each as its last change left it", arguments: [0, 1, 2, 3, 17])
    func merging(runs: Int) throws {
        var generator = SeededGenerator()
        var last: [Entry: Bool] = [:]
        for _ in 0..<runs {
            var changes = EntryChanges()
            for _ in 0..<2_000 {
                let name = Self.bytes(0...2, &generator)
                let slot = Int64.random(in: 0...2, using: &generator)
                let value = Self.bytes(0...12, &generator)
                let isAddition = Bool.random(using: &generator)
                Self.add(slot: slot, value, name, isAddition, to: &changes)
                last[Entry(space: IndexSpace(scope: 1, slot: slot).number, value: value, name: name)] = isAddition
            }
            try file.add(&changes)
            #expect(changes.isEmpty)
        }
        var merged: [(entry: Entry, isAddition: Bool)] = []
        try file.merge { change in
            merged.append((Entry(space: change.space, value: Array(change.value), name: Array(change.name)), change.isAddition))
        }
        #expect(merged.map(\.entry) == last.keys.sorted(), seed)
        #expect(merged.allSatisfy { last[$0.entry] == $0.isAddition }, seed)
    }

    @Test("May be longer than what is read at once")
    func longEntries() throws {
        let values = (0..<4).map { [UInt8](repeating: UInt8($0), count: 150_000 * ($0 + 1)) }
        for value in values.reversed() {
            var changes = EntryChanges()
            Self.add(slot: 2, value, [1], true, to: &changes)
            try file.add(&changes)
        }
        var merged: [[UInt8]] = []
        try file.merge { merged.append(Array($0.value)) }
        #expect(merged == values)
    }

    @Test("Are not passed over when the file has become shorter")
    func damage() throws {
        var changes = EntryChanges()
        Self.add(slot: 2, [1, 2, 3], [1], true, to: &changes)
        try file.add(&changes)
        try FileDescriptor.folder(atPath: folder.path).openFile("runs", for: .updating).truncate(to: 18)
        #expect(throws: SystemError.self) { try file.merge { _ in } }
    }

    private static func add(
        slot: Int64,
        _ value: [UInt8],
        _ name: [UInt8],
        _ isAddition: Bool,
        to changes: inout EntryChanges
    ) {
        let entries = IndexEntries(sorting: [IndexEntries.Entry(slot: slot, value: 0..<value.count)], value)
        let scopes = [(scope: Int64(1), name: changes.add(name: name))]
        if isAddition {
            changes.add(from: IndexEntries(), to: entries, scopes: scopes)
        } else {
            changes.add(from: entries, to: IndexEntries(), scopes: scopes)
        }
    }

    /// Few different ones, many of which begin alike.
    private static func bytes(_ count: ClosedRange<Int>, _ generator: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: count, using: &generator)).map { $0 < 8 ? 7 : UInt8.random(in: 0...1, using: &generator) }
    }
}
