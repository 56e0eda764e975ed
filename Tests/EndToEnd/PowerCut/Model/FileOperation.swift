import StrictJSON

/// A change of a file or of a folder's entries. It says all itself, so it can be carried out without the ones before it.
enum FileOperation: Hashable, Sendable {
    /// Bytes at an offset; the file grows as needed.
    case write(Inode, offset: Int, FileBytes)
    /// The file is cut off or lengthened with zeros.
    case resize(Inode, to: Int)
    /// The file is lengthened with zeros, if it is shorter.
    case grow(Inode, to: Int)
    /// Names of one folder change together: a file made, removed or renamed.
    case enter(folder: Inode, [Entry])

    /// A name and what it stands for afterwards; nil for nothing.
    struct Entry: Hashable, Sendable {
        let name: UTF8Key
        let target: Inode?
    }

    /// The file or folder that must be synced for this to be on disk.
    var subject: Inode {
        switch self {
        case .write(let file, _, _), .resize(let file, _), .grow(let file, _): file
        case .enter(let folder, _): folder
        }
    }
}

extension FileOperation {
    /// What may be left of the operation when it was not synced: not all of it, and first of all nothing.
    ///
    /// A change of entries, and of a size, is there or not. A write may have reached the disk up to any byte, or only from a
    /// sector on; or the size did and the bytes did not.
    var remnants: [[FileOperation]] {
        switch self {
        case .resize, .grow, .enter:
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

    /// What may be left of a write that reached the disk up to `length` bytes, with the size grown or not.
    func cut(to length: Int, growing: Bool) -> [FileOperation] {
        guard case .write(let file, let offset, let bytes) = self else { return [] }
        let start = FileOperation.write(file, offset: offset, bytes.prefix(length))
        return growing ? [.grow(file, to: offset + bytes.count), start] : [start]
    }

    /// How many bytes a write has.
    var byteCount: Int {
        if case .write(_, _, let bytes) = self { bytes.count } else { 0 }
    }

    private static func cuts(_ offset: Int, _ bytes: FileBytes) -> [Int] {
        let count = bytes.count
        // Among zeros, one place is as good as another.
        guard !bytes.stored.isEmpty else { return count > 1 ? [count / 2] : [] }
        let sectors = sectors(offset, count)
        let places = [1, count / 2, count - 1] + [sectors.first, sectors.last].compactMap { $0 }
        return Set(places).filter { (1..<count).contains($0) }.sorted()
    }

    /// Where in the bytes a sector of the disk begins.
    private static func sectors(_ offset: Int, _ count: Int) -> [Int] {
        let sectorBytes = 512
        let first = sectorBytes - offset % sectorBytes
        return first < count ? Array(stride(from: first, to: count, by: sectorBytes)) : []
    }
}
