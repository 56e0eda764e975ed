import UTF8Text

/// Interprets the system calls of successive programs as operations on a folder, which is initially empty.
///
/// Descriptors are tracked across calls, because strace could only provide their names at the time of the call. Unsupported calls
/// on the folder are errors, so that no operation is missed.
struct TraceInterpreter {
    /// The folder contents as seen by the programs.
    private(set) var tree = FileTree()
    /// The events in order.
    private(set) var events: [TraceEvent] = []

    private let root: [UTF8Key]
    private var descriptors: [Int: (inode: Inode, opened: Int)] = [:]
    private var inodeCount = 1
    /// The number of lines in previous traces.
    private var offset = 0

    /// An unsupported call.
    struct Failure: Error, CustomStringConvertible {
        let call: SystemCall
        let reason: String

        var description: String {
            "\(reason): \(call.name.string)(\(call.arguments.joined(separator: ", "))) in line \(call.end) of the trace"
        }
    }

    /// Creates an interpreter for the folder at an absolute path.
    init(root path: String) {
        root = Self.names(in: Array(path.utf8))
    }

    /// Interprets the calls of the next program.
    mutating func interpret(_ calls: [SystemCall]) throws(Failure) {
        descriptors = [:]
        for var call in calls {
            call.begin += offset
            call.end += offset
            if call.result != nil { try interpret(call) }
        }
        offset += calls.last.map { $0.end + 1 } ?? 0
    }
}

extension TraceInterpreter {
    private mutating func interpret(_ call: SystemCall) throws(Failure) {
        switch call.name {
        case "openat": try open(call, folder: try folder(call, 0), path: call.strings.first, flags: 2)
        case "open": try open(call, folder: nil, path: call.strings.first, flags: 1)
        case "mkdirat", "mkdir": try makeFolder(call)
        case "renameat", "rename", "renameat2": try rename(call)
        case "unlinkat", "unlink", "rmdir": try remove(call)
        case "close": close(call)
        case "dup", "dup2", "dup3", "fcntl": duplicate(call)
        case "fsync", "fdatasync", "syncfs", "sync": synchronize(call)
        case "pwrite64": try write(call)
        case "ftruncate": try resize(call)
        case "write", "writev", "sendto", "sendmsg": try send(call)
        case "creat", "truncate": try reject(call, unlessOutside: location(call, folder: nil, call.strings.first))
        case "linkat": try link(call)
        case "link", "symlink", "symlinkat":
            try reject(call, unlessOutside: location(call, folder: nil, call.strings.last))
        default: try rejectDescriptors(of: call)
        }
    }

    private mutating func open(_ call: SystemCall, folder: Inode?, path: SystemCall.Text?, flags: Int) throws(Failure) {
        guard let descriptor = call.result, let location = try location(call, folder: folder, path) else { return }
        let flags = Set(call.arguments[flags].split(separator: "|").map { UTF8Key($0) })
        guard flags.isDisjoint(with: ["O_SYNC", "O_DSYNC", "O_APPEND", "O_DIRECT"]) else {
            throw Failure(call: call, reason: "Unsupported open flags")
        }
        if flags.contains("O_TMPFILE") {
            descriptors[descriptor] = (makeInode(isFolder: false), call.end)
        } else if let inode = location.inode(in: tree) {
            descriptors[descriptor] = (inode, call.end)
            if flags.contains("O_TRUNC") { perform(.resize(inode, to: 0), call) }
        } else {
            guard flags.contains("O_CREAT") else {
                throw Failure(call: call, reason: "The creation of this file is missing in the trace")
            }
            let inode = makeInode(isFolder: false)
            setEntries([location: inode], call, "create \(name(location))")
            descriptors[descriptor] = (inode, call.end)
        }
    }

    private mutating func makeFolder(_ call: SystemCall) throws(Failure) {
        let folder = call.name == "mkdirat" ? try folder(call, 0) : nil
        guard let location = try location(call, folder: folder, call.strings.first) else { return }
        setEntries([location: makeInode(isFolder: true)], call, "make folder \(name(location))")
    }

    private mutating func rename(_ call: SystemCall) throws(Failure) {
        let isRelative = call.name != "rename"
        let old = try location(call, folder: isRelative ? try folder(call, 0) : nil, call.strings.first)
        let new = try location(call, folder: isRelative ? try folder(call, 2) : nil, call.strings.last)
        guard let old, let new else {
            if old == nil && new == nil { return }
            throw Failure(call: call, reason: "Renames into or out of the folder are not supported")
        }
        guard old.folder == new.folder, let inode = old.inode(in: tree) else {
            throw Failure(call: call, reason: "Unsupported rename")
        }
        switch call.arguments.dropFirst(4).first ?? "0" {
        case "0", "RENAME_NOREPLACE": setEntries([old: nil, new: inode], call, "rename \(name(old)) to \(new.name.string)")
        case "RENAME_EXCHANGE":
            setEntries([old: new.inode(in: tree), new: inode], call, "exchange \(name(old)) with \(new.name.string)")
        default: throw Failure(call: call, reason: "Unsupported rename")
        }
    }

    /// Links an unnamed file by its descriptor.
    private mutating func link(_ call: SystemCall) throws(Failure) {
        guard let new = try location(call, folder: try folder(call, 2), call.strings.last) else { return }
        guard let descriptor = Self.linkedDescriptor(call), let inode = descriptors[descriptor]?.inode,
            tree.names(to: inode) == nil
        else {
            throw Failure(call: call, reason: "Unsupported link")
        }
        setEntries([new: inode], call, "link \(name(new))")
    }

    /// Returns the descriptor of the linked file, which can be specified in two ways.
    private static func linkedDescriptor(_ call: SystemCall) -> Int? {
        if call.arguments.last == "AT_EMPTY_PATH", call.strings.first?.bytes.isEmpty == true { return call.number(0) }
        let path = names(in: call.strings.first?.bytes ?? [])
        return path.dropLast() == ["proc", "self", "fd"] ? path.last.flatMap { Int($0.string) } : nil
    }

    private mutating func remove(_ call: SystemCall) throws(Failure) {
        let folder = call.name == "unlinkat" ? try folder(call, 0) : nil
        guard let location = try location(call, folder: folder, call.strings.first) else { return }
        setEntries([location: nil], call, "remove \(name(location))")
    }

    private mutating func close(_ call: SystemCall) {
        guard let descriptor = call.number(0), let open = descriptors[descriptor] else { return }
        // Another thread can have reused the number before the close returned.
        if open.opened < call.begin { descriptors[descriptor] = nil }
    }

    private mutating func duplicate(_ call: SystemCall) {
        if call.name == "fcntl", !call.arguments[1].utf8.starts(with: "F_DUPFD".utf8) { return }
        guard let descriptor = call.number(0), let copy = call.result else { return }
        descriptors[copy] = descriptors[descriptor].map { ($0.inode, call.end) }
    }

    private mutating func synchronize(_ call: SystemCall) {
        if call.name == "sync" {
            events.append(.sync(.everything, label: "sync everything", begin: call.begin))
        } else if let inode = inode(call) {
            let syncsEverything = call.name == "syncfs"
            let label = "\(call.name.string) \(name(inode))"
            events.append(.sync(syncsEverything ? .everything : .inode(inode), label: label, begin: call.begin))
        }
    }
}

extension TraceInterpreter {
    private mutating func write(_ call: SystemCall) throws(Failure) {
        guard let file = inode(call), let written = call.result, written > 0 else { return }
        guard let text = call.strings.first, let offset = call.number(3) else {
            throw Failure(call: call, reason: "Missing arguments")
        }
        // Only the zeros of preallocated files exceed the string limit of strace. The final comparison of the tree with the folder
        // verifies that they are zeros.
        guard !text.isTruncated || text.bytes.allSatisfy({ $0 == 0 }) else {
            throw Failure(call: call, reason: "The bytes of a write are truncated")
        }
        let shown = text.bytes.prefix(written)
        let stored = shown.prefix(shown.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0)
        let bytes = FileBytes(Array(stored), count: written)
        let label = "write \(written) bytes at \(offset) of \(name(file))"
        perform(.write(file, offset: offset, bytes), call, label)
    }

    private mutating func resize(_ call: SystemCall) throws(Failure) {
        guard let file = inode(call) else { return }
        guard let size = call.number(1) else { throw Failure(call: call, reason: "Missing size") }
        perform(.resize(file, to: size), call, "resize \(name(file)) to \(size)")
    }

    private mutating func send(_ call: SystemCall) throws(Failure) {
        if inode(call) != nil { throw Failure(call: call, reason: "Unsupported write") }
        events.append(.sent(call.strings.flatMap(\.bytes)))
    }

    private func reject(_ call: SystemCall, unlessOutside location: Location?) throws(Failure) {
        if location != nil { throw Failure(call: call, reason: "Unsupported call") }
    }

    private func rejectDescriptors(of call: SystemCall) throws(Failure) {
        for index in call.arguments.indices where call.number(index).map({ descriptors[$0] != nil }) ?? false {
            throw Failure(call: call, reason: "Unsupported call")
        }
    }

    private mutating func setEntries(_ changes: [Location: Inode?], _ call: SystemCall, _ label: String) {
        guard let folder = changes.keys.first?.folder else { return }
        let entries = changes.map { FileOperation.Entry(name: $0.key.name, target: $0.value) }
        perform(.setEntries(folder: folder, entries), call, label)
    }

    private mutating func perform(_ operation: FileOperation, _ call: SystemCall, _ label: String? = nil) {
        tree.apply(operation)
        events.append(.operation(operation, label: label ?? call.name.string, end: call.end))
    }
}

extension TraceInterpreter {
    /// A name in a folder.
    private struct Location: Hashable {
        let folder: Inode
        let name: UTF8Key

        func inode(in tree: FileTree) -> Inode? {
            // The folder itself.
            name == "." ? folder : tree.entries(of: folder)[name]
        }
    }

    private mutating func makeInode(isFolder: Bool) -> Inode {
        defer { inodeCount += 1 }
        return Inode(number: inodeCount, isFolder: isFolder)
    }

    private func inode(_ call: SystemCall) -> Inode? {
        call.number(0).flatMap { descriptors[$0]?.inode }
    }

    /// Returns the folder of a path argument; `nil` for folders outside of the root, such as the working folder.
    private func folder(_ call: SystemCall, _ index: Int) throws(Failure) -> Inode? {
        call.number(index).flatMap { descriptors[$0]?.inode }
    }

    private func name(_ location: Location) -> String {
        name(location.folder) + "/" + location.name.string
    }

    /// Returns the path of a file or folder for labels.
    private func name(_ inode: Inode) -> String {
        guard let names = tree.names(to: inode) else { return "an unnamed file" }
        return names.map { $0.byteCount > 40 ? $0.string.prefix(20) + "~" : $0.string }.joined(separator: "/")
    }

    /// Resolves a path, absolute or relative to a folder; returns `nil` if it is outside of the root.
    private func location(_ call: SystemCall, folder: Inode?, _ path: SystemCall.Text?) throws(Failure) -> Location? {
        guard let path else { throw Failure(call: call, reason: "Missing path") }
        let names = Self.names(in: path.bytes)
        var resolved: [UTF8Key]
        if path.bytes.first == UInt8(ascii: "/") {
            resolved = []
        } else {
            guard let folder else { return nil }
            if names.isEmpty { return Location(folder: folder, name: ".") }
            guard let inside = tree.names(to: folder) else { throw Failure(call: call, reason: "The folder has been removed") }
            resolved = root + inside
        }
        for name in names {
            if name == ".." { _ = resolved.popLast() } else { resolved.append(name) }
        }
        guard resolved.starts(with: root), !Self.isDerived(resolved) else { return nil }
        var inside = resolved.dropFirst(root.count)
        let last = inside.popLast() ?? "."
        var folder = Inode.root
        for name in inside {
            guard let next = tree.entries(of: folder)[name] else { throw Failure(call: call, reason: "The folder doesn't exist") }
            folder = next
        }
        return Location(folder: folder, name: last)
    }

    /// Returns whether a path is one of the index files. Their contents after a power cut are irrelevant: the index is rebuilt after a
    /// restart of the machine.
    static func isDerived(_ path: [UTF8Key]) -> Bool {
        path.last?.utf8.starts(with: "index.sqlite".utf8) ?? false
    }

    private static func names(in path: [UInt8]) -> [UTF8Key] {
        path.split(separator: UInt8(ascii: "/")).compactMap { UTF8Key(validating: $0) }.filter { $0 != "." }
    }
}
