internal import QueryEngine
internal import StorageIO

/// An external merge sort of entry changes: sorted runs are written to a temporary file and merged at the end.
///
/// A bulk build inserts entries in index order, so that each page of the B-tree is written once. In document order nearly every entry
/// would need a page that is no longer in the cache.
final class ExternalSorter {
    private let file: FileDescriptor
    private var runs: [Range<Int>] = []
    /// The size of the changes that ``merge(_:)`` has passed to its body.
    private var mergedBytes = 0

    /// The size of a write, and of the read buffer of each run.
    private static let bufferBytes = 128 << 10

    /// - Parameter file: An empty file for exclusive use.
    init(_ file: consuming FileDescriptor) {
        self.file = file
    }

    /// Writes the buffered changes as a sorted run, and empties the buffer. They take precedence over those of earlier runs.
    func add(_ changes: inout EntryChangeBuffer) throws(FileSystemError) {
        let start = runs.last?.upperBound ?? 0
        var end = start
        var buffer: [UInt8] = []
        buffer.reserveCapacity(2 * Self.bufferBytes)
        try changes.drain { change throws(FileSystemError) in
            change.append(to: &buffer)
            guard buffer.count >= Self.bufferBytes else { return }
            try file.write(buffer, at: end)
            end += buffer.count
            buffer.removeAll(keepingCapacity: true)
        }
        try file.write(buffer, at: end)
        runs.append(start..<end + buffer.count)
    }

    /// The part of the changes that ``merge(_:)`` has passed to its body, from 0 to 1.
    var mergedFraction: Double { Double(mergedBytes) / Double(max(runs.last?.upperBound ?? 0, 1)) }

    /// Calls `body` with the last change to each entry, in index order.
    ///
    /// - Throws: ``FileSystemError`` when the file cannot be read, and any error of `body`.
    func merge(_ body: (EntryChange) throws -> Void) throws {
        var merger = try SortedRunMerger(runs.map { SortedRunReader($0, bufferBytes: Self.bufferBytes) }, file)
        while let change = merger.first {
            try body(change)
            mergedBytes += EntryChange.Header.byteCount + change.value.count + change.name.count
            try merger.step(file)
        }
    }
}

/// A k-way merge of sorted runs: a heap ordered by the runs' current changes, and by descending run number for equal entries.
private struct SortedRunMerger {
    private var readers: [(reader: SortedRunReader, number: Int)] = []

    init(_ runs: [SortedRunReader], _ file: borrowing FileDescriptor) throws(FileSystemError) {
        for (number, reader) in runs.enumerated() where try reader.step(in: file) { readers.append((reader, number)) }
        for index in stride(from: readers.count / 2 - 1, through: 0, by: -1) { siftDown(index) }
    }

    /// The current change.
    var first: EntryChange? { readers.first?.reader.change }

    /// Advances past the current change and those to the same entry in earlier runs.
    mutating func step(_ file: borrowing FileDescriptor) throws(FileSystemError) {
        guard let first else { return }
        // Entries equal to the root have only equal ancestors.
        for child in [2, 1] {
            while child < readers.count, readers[child].reader.change.compare(first) == 0 { try step(child, file) }
        }
        try step(0, file)
    }

    private mutating func step(_ index: Int, _ file: borrowing FileDescriptor) throws(FileSystemError) {
        if try !readers[index].reader.step(in: file) {
            readers.swapAt(index, readers.count - 1)
            readers.removeLast()
        }
        siftDown(index)
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        while true {
            var first = index
            for child in 2 * index + 1...2 * index + 2 where child < readers.count && precedes(child, first) { first = child }
            if first == index { return }
            readers.swapAt(index, first)
            index = first
        }
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        let order = readers[left].reader.change.compare(readers[right].reader.change)
        return order == 0 ? readers[left].number > readers[right].number : order < 0
    }
}
