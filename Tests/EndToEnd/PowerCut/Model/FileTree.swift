import UTF8Text

/// A file or folder, independent of its name.
struct Inode: Hashable, Sendable {
    let number: Int
    let isFolder: Bool

    /// The root folder.
    static let root = Inode(number: 0, isFolder: true)
}

/// A tree of files and folders: the contents of a disk, or the view of a running program.
///
/// An inode without operations is an empty file or folder. It is part of the tree if an entry refers to it.
struct FileTree: Hashable, Sendable {
    private var files: [Inode: FileBytes] = [:]
    private var folders: [Inode: [UTF8Key: Inode]] = [:]

    /// Returns the bytes of a file.
    func bytes(of file: Inode) -> FileBytes {
        files[file] ?? FileBytes()
    }

    /// Returns the entries of a folder.
    func entries(of folder: Inode) -> [UTF8Key: Inode] {
        folders[folder] ?? [:]
    }

    /// Applies an operation completely.
    mutating func apply(_ operation: FileOperation) {
        switch operation {
        case .write(let file, let offset, let bytes): files[file, default: FileBytes()].write(bytes, at: offset)
        case .resize(let file, let size): files[file, default: FileBytes()].resize(to: size)
        case .grow(let file, let size): files[file, default: FileBytes()].grow(to: size)
        case .setEntries(let folder, let changes):
            for change in changes { folders[folder, default: [:]][change.name] = change.target }
        }
    }
}

extension FileTree {
    /// A named file or folder.
    struct Item: Hashable, Sendable {
        /// The path from the root.
        let path: [UTF8Key]
        /// The contents of a file; `nil` for a folder.
        let bytes: FileBytes?
    }

    /// All files and folders in order, each folder before its contents.
    var items: [Item] {
        var items: [Item] = []
        collect(.root, [], into: &items)
        return items
    }

    private func collect(_ folder: Inode, _ path: [UTF8Key], into items: inout [Item]) {
        for (name, inode) in entries(of: folder).sorted(by: { $0.key < $1.key }) {
            let path = path + [name]
            items.append(Item(path: path, bytes: inode.isFolder ? nil : bytes(of: inode)))
            if inode.isFolder { collect(inode, path, into: &items) }
        }
    }

    /// A hash of ``items``, stable within this process.
    var digest: Int { digest(of: .root) }

    private func digest(of folder: Inode) -> Int {
        entries(of: folder).reduce(1) { sum, entry in
            var hasher = Hasher()
            hasher.combine(entry.key)
            hasher.combine(entry.value.isFolder)
            if entry.value.isFolder {
                hasher.combine(digest(of: entry.value))
            } else {
                hasher.combine(bytes(of: entry.value))
            }
            // Independent of the order of entries.
            return sum &+ hasher.finalize()
        }
    }

    /// Returns the path of an inode from the root; `nil` if it has none.
    func names(to inode: Inode) -> [UTF8Key]? {
        var pending: [(folder: Inode, names: [UTF8Key])] = [(.root, [])]
        while let (folder, names) = pending.popLast() {
            if folder == inode { return names }
            for (name, entry) in entries(of: folder) {
                if entry == inode { return names + [name] }
                if entry.isFolder { pending.append((entry, names + [name])) }
            }
        }
        return nil
    }
}
