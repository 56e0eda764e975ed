internal import DocumentModel

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Files and folders that only their owner may access.
enum PrivateFile {
    /// Creates an empty file, if there is none.
    static func create(_ path: String) throws(StatusError) {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw error("created", path) }
        close(file)
    }

    /// Creates a folder and those above it, as far as they are missing. The new ones are durable when it returns.
    static func createFolder(_ path: String) throws(StatusError) {
        guard !isFolder(path) else { return }
        let parent = parent(of: path)
        if parent != path { try createFolder(parent) }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw error("created", path) }
        try synchronizeFolder(parent)
    }

    /// Makes the entries of a folder durable.
    static func synchronizeFolder(_ path: String) throws(StatusError) {
        let folder = open(path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { throw error("opened", path) }
        defer { close(folder) }
        // Some file systems cannot sync folders.
        guard fsync(folder) == 0 || errno == EINVAL else { throw error("synced", path) }
    }

    /// Makes the contents of a file durable.
    static func synchronize(_ path: String) throws(StatusError) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw error("opened", path) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw error("synced", path) }
    }

    /// Returns whether there is something at a path.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Returns the size of a file in bytes; `nil` if there is none.
    static func size(_ path: String) -> Int? {
        var status = stat()
        return lstat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Removes a file, if there is one.
    static func remove(_ path: String) throws(StatusError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw error("removed", path) }
    }

    /// Removes an empty folder, if there is one.
    static func removeFolder(_ path: String) throws(StatusError) {
        guard rmdir(path) == 0 || errno == ENOENT else { throw error("removed", path) }
    }

    /// Renames a file, if there is one.
    static func rename(_ path: String, to newPath: String) throws(StatusError) {
        #if canImport(Glibc)
        let result = Glibc.rename(path, newPath)
        #elseif canImport(Musl)
        let result = Musl.rename(path, newPath)
        #else
        let result = Darwin.rename(path, newPath)
        #endif
        guard result == 0 || errno == ENOENT else { throw error("renamed", path) }
    }

    /// Returns the names in a folder, sorted; none if there is no folder.
    static func names(in path: String) throws(StatusError) -> [String] {
        guard let folder = opendir(path) else {
            guard errno == ENOENT else { throw error("read", path) }
            return []
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            // Not a copy of the field, which may reach beyond the end of the entry.
            let start = UnsafeRawPointer(entry).advanced(by: nameOffset).assumingMemoryBound(to: CChar.self)
            let name = String(cString: start)
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    // Stored fields of a C struct always have offsets.
    private static let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name)!

    /// Returns the first bytes of a file; `nil` if there is none.
    static func prefix(of path: String, count: Int) throws(StatusError) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            guard errno == ENOENT else { throw error("opened", path) }
            return nil
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: count)
        let length = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
        guard length >= 0 else { throw error("read", path) }
        return Array(bytes.prefix(length))
    }

    /// Copies a file in pieces.
    static func copy(_ path: String, to newPath: String) throws(StatusError) {
        let source = open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw error("opened", path) }
        defer { close(source) }
        let target = open(newPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard target >= 0 else { throw error("created", newPath) }
        defer { close(target) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let length = buffer.withUnsafeMutableBytes { read(source, $0.baseAddress, $0.count) }
            guard length >= 0 else { throw error("read", path) }
            guard length > 0 else { return }
            try write(buffer[..<length], to: target, at: newPath)
        }
    }

    /// Overwrites the beginning of a file.
    static func overwrite(_ path: String, with bytes: [UInt8]) throws(StatusError) {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw error("opened", path) }
        defer { close(file) }
        try write(bytes[...], to: file, at: path)
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to file: Int32, at path: String) throws(StatusError) {
        var rest = bytes
        while !rest.isEmpty {
            let length = rest.withUnsafeBytes { posixWrite(file, $0) }
            guard length > 0 else { throw error("written", path) }
            rest = rest.dropFirst(length)
        }
    }

    private static func posixWrite(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        Glibc.write(file, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
        Musl.write(file, bytes.baseAddress, bytes.count)
        #else
        Darwin.write(file, bytes.baseAddress, bytes.count)
        #endif
    }

    /// Returns the folder of a path.
    static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Returns the error of the last system call on a path.
    static func error(_ participle: String, _ path: String) -> StatusError {
        let number = errno
        let reason = String(cString: strerror(number))
        return StatusError(
            number == ENOSPC || number == EDQUOT ? .resourceExhausted : .unavailable,
            "The file or folder \(path) cannot be \(participle): \(reason).",
            file: StatusError.FileLocation(path: path)
        )
    }
}
