import UTF8Text

/// A change to a file or to the entries of a folder. It is self-contained and can be applied without preceding operations.
enum FileOperation: Hashable, Sendable {
    /// Writes bytes at an offset; the file grows if needed.
    case write(Inode, offset: Int, FileBytes)
    /// Truncates the file or extends it with zeros.
    case resize(Inode, to: Int)
    /// Extends the file with zeros if it is shorter.
    case grow(Inode, to: Int)
    /// Changes entries of a folder atomically, when a file is created, removed or renamed.
    case setEntries(folder: Inode, [Entry])

    /// A name and its new target; `nil` for a removed entry.
    struct Entry: Hashable, Sendable {
        let name: UTF8Key
        let target: Inode?
    }

    /// The file or folder that must be synced to make the operation durable.
    var subject: Inode {
        switch self {
        case .write(let file, _, _), .resize(let file, _), .grow(let file, _): file
        case .setEntries(let folder, _): folder
        }
    }
}

extension FileOperation {
    /// The possible partial results of the operation after a power cut; the first one is nothing.
    ///
    /// Changes of entries and sizes are atomic. A write can be durable up to any byte, or only from a sector on, or with its size
    /// but not its bytes.
    var partialOutcomes: [[FileOperation]] {
        switch self {
        case .resize, .grow, .setEntries:
            return [[]]
        case .write(let file, let offset, let bytes):
            let end = offset + bytes.count
            let cuts = Self.cuts(offset, bytes).map { [FileOperation.write(file, offset: offset, bytes.prefix($0))] }
            let tails = Self.sectors(offset, bytes.count).suffix(2).map { sector in
                [FileOperation.write(file, offset: offset + sector, bytes.dropFirst(sector))]
            }
            return [[], [.grow(file, to: end)]] + cuts + tails
        }
    }

    /// Returns the result of a write that is durable up to `length` bytes, optionally with its full size.
    func cut(to length: Int, growing: Bool) -> [FileOperation] {
        guard case .write(let file, let offset, let bytes) = self else { return [] }
        let start = FileOperation.write(file, offset: offset, bytes.prefix(length))
        return growing ? [.grow(file, to: offset + bytes.count), start] : [start]
    }

    /// The size of a write.
    var byteCount: Int {
        if case .write(_, _, let bytes) = self { bytes.count } else { 0 }
    }

    private static func cuts(_ offset: Int, _ bytes: FileBytes) -> [Int] {
        let count = bytes.count
        // Within zeros, one cut is sufficient.
        guard !bytes.stored.isEmpty else { return count > 1 ? [count / 2] : [] }
        let sectors = sectors(offset, count)
        let cuts = [1, count / 2, count - 1] + [sectors.first, sectors.last].compactMap { $0 }
        return Set(cuts).filter { (1..<count).contains($0) }.sorted()
    }

    /// Returns the offsets in the bytes at which disk sectors begin.
    private static func sectors(_ offset: Int, _ count: Int) -> [Int] {
        let sectorBytes = 512
        let first = sectorBytes - offset % sectorBytes
        return first < count ? Array(stride(from: first, to: count, by: sectorBytes)) : []
    }
}
