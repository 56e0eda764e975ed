import StrictJSON

/// A file or folder, whatever name it has, if it has one.
struct Inode: Hashable, Sendable {
    let number: Int
    let isFolder: Bool

    /// The folder that everything is in.
    static let root = Inode(number: 0, isFolder: true)
}

/// Files and folders as a value: what a disk holds, or what the programs of a running system see.
///
/// An inode that nothing was said of is an empty file or folder; it is seen once an entry leads to it.
struct FileTree: Hashable, Sendable {
    private var files: [Inode: FileBytes] = [:]
    private var folders: [Inode: [UTF8Key: Inode]] = [:]

    /// The bytes of a file.
    func bytes(of file: Inode) -> FileBytes {
        files[file] ?? FileBytes()
    }

    /// The names in a folder.
    func entries(of folder: Inode) -> [UTF8Key: Inode] {
        folders[folder] ?? [:]
    }

    /// Carries out an operation wholly.
    mutating func apply(_ operation: FileOperation) {
        switch operation {
        case .write(let file, let offset, let bytes): files[file, default: FileBytes()].write(bytes, at: offset)
        case .resize(let file, let size): files[file, default: FileBytes()].resize(to: size)
        case .grow(let file, let size): files[file, default: FileBytes()].grow(to: size)
        case .enter(let folder, let changes):
            for change in changes { folders[folder, default: [:]][change.name] = change.target }
        }
    }
}

extension FileTree {
    /// Something that has a name.
    struct Item: Hashable, Sendable {
        /// The names that lead to it from the root.
        let path: [UTF8Key]
        /// The contents of a file; nil for a folder.
        let bytes: FileBytes?
    }

    /// Everything below the root in order, each folder before what is in it.
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

    /// A hash of ``items``, the same in this process for all trees with the same items.
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
            // Entries have no order.
            return sum &+ hasher.finalize()
        }
    }

    /// The names that lead to an inode from the root; nil when none do.
    func names(to inode: Inode) -> [UTF8Key]? {
        var waiting: [(folder: Inode, names: [UTF8Key])] = [(.root, [])]
        while let (folder, names) = waiting.popLast() {
            if folder == inode { return names }
            for (name, entry) in entries(of: folder) {
                if entry == inode { return names + [name] }
                if entry.isFolder { waiting.append((entry, names + [name])) }
            }
        }
        return nil
    }
}
