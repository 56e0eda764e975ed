internal import Glibc

/// The entries of a folder, one after another, in no order.
struct FolderListing: ~Copyable {
    /// A name in a folder, and what it stands for where the file system tells without being asked again.
    struct Entry {
        let name: [UInt8]
        let kind: FileStatus.Kind?

        /// The name for a system call.
        var cString: [CChar] { name.map { CChar(bitPattern: $0) } + [0] }

        /// The name for a message, with what is not UTF-8 replaced.
        var text: String { String(decoding: name, as: UTF8.self) }
    }

    private let stream: OpaquePointer

    /// Takes over an open stream.
    init(_ stream: OpaquePointer) {
        self.stream = stream
    }

    deinit {
        _ = closedir(stream)
    }

    /// The next entry, `.` and `..` left out; nil at the end.
    mutating func next() throws(SystemError) -> Entry? {
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw SystemError("readdir") }
                return nil
            }
            let name = Self.name(of: entry)
            let dot = UInt8(ascii: ".")
            if name == [dot] || name == [dot, dot] { continue }
            return Entry(name: name, kind: Self.kind(of: entry))
        }
    }

    // A record ends with its name, which may be shorter than the field for it, and so may end before a `dirent` does where
    // the memory ends. `pointee` may copy a whole `dirent`: take the addresses of the fields, never their values.

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
