/// Changes of entries by the million: sorted part by part, each part written to a file as a run, and merged in the end.
///
/// An index that is made anew gets its entries in their order then, so that each page of the B-tree is written once. In the order
/// of the documents nearly every entry would need a page that is not in memory any more.
final class EntryRuns {
    private let file: FileDescriptor
    private var runs: [Range<Int>] = []

    /// How much is written at once, and read of each run.
    private static let bufferBytes = 128 << 10

    /// - Parameter file: An empty file that nobody else uses.
    init(_ file: consuming FileDescriptor) {
        self.file = file
    }

    /// Writes changes that come after those before, and forgets them.
    func add(_ changes: inout EntryChanges) throws(SystemError) {
        let start = runs.last?.upperBound ?? 0
        var end = start
        var buffer: [UInt8] = []
        buffer.reserveCapacity(2 * Self.bufferBytes)
        try changes.drain { change throws(SystemError) in
            change.append(to: &buffer)
            guard buffer.count >= Self.bufferBytes else { return }
            try file.write(buffer, at: end)
            end += buffer.count
            buffer.removeAll(keepingCapacity: true)
        }
        try file.write(buffer, at: end)
        runs.append(start..<end + buffer.count)
    }

    /// Gives all changes in the order of the entries; of changes of the same entry only the last.
    ///
    /// - Throws: ``SystemError`` when the file can't be read, and what `body` throws.
    func merge(_ body: (EntryChange) throws -> Void) throws {
        var heap = try EntryRunHeap(runs.map { EntryRunReader($0, bufferBytes: Self.bufferBytes) }, file)
        while let change = heap.first {
            try body(change)
            try heap.step(file)
        }
    }
}

/// Runs that are read at the same time, the one on top whose change comes first; of the same entry's changes, the last run's.
private struct EntryRunHeap {
    private var readers: [(reader: EntryRunReader, number: Int)] = []

    init(_ runs: [EntryRunReader], _ file: borrowing FileDescriptor) throws(SystemError) {
        for (number, reader) in runs.enumerated() where try reader.step(in: file) { readers.append((reader, number)) }
        for place in stride(from: readers.count / 2 - 1, through: 0, by: -1) { siftDown(place) }
    }

    /// The next change.
    var first: EntryChange? { readers.first?.reader.change }

    /// Goes past the next change, and earlier ones of the same entry.
    mutating func step(_ file: borrowing FileDescriptor) throws(SystemError) {
        guard let first else { return }
        // What is equal to the top is below nothing else.
        for child in [2, 1] {
            while child < readers.count, readers[child].reader.change.compare(first) == 0 { try step(child, file) }
        }
        try step(0, file)
    }

    private mutating func step(_ place: Int, _ file: borrowing FileDescriptor) throws(SystemError) {
        if try !readers[place].reader.step(in: file) {
            readers.swapAt(place, readers.count - 1)
            readers.removeLast()
        }
        siftDown(place)
    }

    private mutating func siftDown(_ start: Int) {
        var place = start
        while true {
            var first = place
            for child in 2 * place + 1...2 * place + 2 where child < readers.count && comesFirst(child, first) { first = child }
            if first == place { return }
            readers.swapAt(place, first)
            place = first
        }
    }

    private func comesFirst(_ left: Int, _ right: Int) -> Bool {
        let order = readers[left].reader.change.compare(readers[right].reader.change)
        return order == 0 ? readers[left].number > readers[right].number : order < 0
    }
}
