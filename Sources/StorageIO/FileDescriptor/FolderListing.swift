internal import Glibc

/// An iterator over the entries of a folder, in no particular order (`readdir`).
package struct FolderListing: ~Copyable {
    /// A folder entry, with its type if the file system returned it.
    package struct Entry {
        package let name: [UInt8]
        let kind: FileStatus.Kind?

        /// The name for a system call.
        var cString: [CChar] { name.map { CChar(bitPattern: $0) } + [0] }

        /// The name for messages, with invalid UTF-8 replaced.
        package var text: String { String(decoding: name, as: UTF8.self) }
    }

    private let stream: OpaquePointer

    /// Takes ownership of an open stream.
    init(_ stream: OpaquePointer) {
        self.stream = stream
    }

    deinit {
        _ = closedir(stream)
    }

    /// Returns the next entry except `.` and `..`, or `nil` at the end.
    package mutating func next() throws(FileSystemError) -> Entry? {
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw FileSystemError("readdir") }
                return nil
            }
            let name = Self.name(of: entry)
            let dot = UInt8(ascii: ".")
            if name == [dot] || name == [dot, dot] { continue }
            return Entry(name: name, kind: Self.kind(of: entry))
        }
    }

    // A record is only as long as its name requires, so the last one may be shorter than a `dirent` and end at the end of the
    // buffer. `pointee` may copy a whole `dirent`. Therefore these use the addresses of the fields, never their values.

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> [UInt8] {
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
        let start = UnsafeRawPointer(entry) + offset
        return Array(UnsafeRawBufferPointer(start: start, count: strlen(start.assumingMemoryBound(to: CChar.self))))
    }

    private static func kind(of entry: UnsafeMutablePointer<dirent>) -> FileStatus.Kind? {
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_type) else { return nil }
        switch Int32(UnsafeRawPointer(entry).load(fromByteOffset: offset, as: UInt8.self)) {
        case Int32(DT_REG): return .file
        case Int32(DT_DIR): return .folder
        case Int32(DT_LNK): return .symbolicLink
        case Int32(DT_UNKNOWN): return nil
        default: return .other
        }
    }
}
