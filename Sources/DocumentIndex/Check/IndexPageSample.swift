internal import DocumentModel
internal import GRDB
internal import StorageIO

/// A bounded look at the B-tree pages of a closed index file, which finds pages that were zeroed or overwritten.
///
/// It reads the trees from their roots down, level by level: all pages of a small file; of a large one, all pages near the roots
/// and a random sample of the others, so that successive starts look at different ones.
enum IndexPageSample {
    /// The maximum number of pages to read.
    private static let maximumPageCount = 2_048
    /// The maximum duration, for a slow disk.
    private static let maximumDuration = Duration.milliseconds(500)

    /// Returns the first damage found, or `nil`.
    ///
    /// - Parameter connection: A connection to the file, which reads the roots of the trees.
    static func damage(in folder: any IndexFolder, _ connection: DatabaseQueue) -> String? {
        do {
            let (pageBytes, pageCount, roots) = try connection.inDatabase { database in
                (
                    try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0,
                    try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0,
                    try Int.fetchAll(database, sql: "SELECT rootpage FROM sqlite_master WHERE rootpage > 0")
                )
            }
            let file = try folder.openFile(IndexFile.name)
            guard pageBytes > 0, try file.status().size >= pageBytes * pageCount else { return "its file is truncated" }
            return try damage(in: file, below: [1] + roots, pageBytes: pageBytes, pageCount: pageCount)
        } catch let error as StatusError {
            return error.message
        } catch let error as FileSystemError {
            return "\(error)"
        } catch {
            return IndexDatabaseError(error).message
        }
    }

    private static func damage(
        in file: borrowing FileDescriptor,
        below roots: [Int],
        pageBytes: Int,
        pageCount: Int
    ) throws(FileSystemError) -> String? {
        let deadline = ContinuousClock.now + maximumDuration
        var remainingCount = maximumPageCount
        var level = roots
        while !level.isEmpty, remainingCount > 0 {
            if level.count > remainingCount { level = Array(level.shuffled().prefix(remainingCount)) }
            remainingCount -= level.count
            var next: [Int] = []
            for number in level.sorted() {
                guard ContinuousClock.now < deadline else { return nil }
                let bytes = try file.read(pageBytes, at: (number - 1) * pageBytes)
                guard bytes.count == pageBytes, let children = children(of: bytes, isFirst: number == 1),
                    children.allSatisfy({ 2...pageCount ~= $0 })
                else { return "page \(number) of \(pageCount) is damaged" }
                next += children
            }
            level = next
        }
        return nil
    }

    /// Returns the numbers of a page's child pages, none for a leaf; `nil` if it is not a B-tree page.
    ///
    /// See the section "B-tree Pages" of SQLite's description of its file format.
    private static func children(of page: [UInt8], isFirst: Bool) -> [Int]? {
        // The file's header is in the first page.
        let start = isFirst ? 100 : 0
        func integer(at offset: Int, byteCount: Int) -> Int {
            page[offset..<(offset + byteCount)].reduce(0) { $0 << 8 | Int($1) }
        }
        let isLeaf: Bool
        switch page[start] {
        case 2, 5: isLeaf = false
        case 10, 13: isLeaf = true
        default: return nil
        }
        let cellCount = integer(at: start + 3, byteCount: 2)
        let pointers = start + (isLeaf ? 8 : 12)
        guard pointers + 2 * cellCount <= page.count else { return nil }
        var children = isLeaf ? [] : [integer(at: start + 8, byteCount: 4)]
        for cell in 0..<cellCount {
            let offset = integer(at: pointers + 2 * cell, byteCount: 2)
            guard offset >= pointers + 2 * cellCount, offset + 4 <= page.count else { return nil }
            if !isLeaf { children.append(integer(at: offset, byteCount: 4)) }
        }
        return children
    }
}
