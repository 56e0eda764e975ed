internal import Glibc

/// An iterator over the entries of a folder, in no particular order (`readdir`).
package struct FolderListing: ~Copyable {
    /// A folder entry, with its type if the file system returned it. It is valid until the next one is read.
    package struct Entry {
        /// The bytes of the name, which a zero follows.
        package let bytes: UnsafeBufferPointer<UInt8>
        let kind: FileStatus.Kind?

        /// A copy of the name.
        package var name: [UInt8] { Array(bytes) }

        /// The name for a system call.
        var cString: UnsafePointer<CChar> {
            // A name in a buffer always has an address.
            UnsafeRawPointer(bytes.baseAddress!).assumingMemoryBound(to: CChar.self)
        }

        /// The name for messages, with invalid UTF-8 replaced.
        package var text: String { String(decoding: bytes, as: UTF8.self) }

        /// True for the folder itself and its parent.
        fileprivate var isDotOrDotDot: Bool {
            bytes.count <= 2 && bytes.allSatisfy { $0 == UInt8(ascii: ".") }
        }
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
            let found = Entry(bytes: Self.name(of: entry), kind: Self.kind(of: entry))
            if !found.isDotOrDotDot { return found }
        }
    }

    // A record is only as long as its name requires, so the last one may be shorter than a `dirent` and end at the end of the
    // buffer. `pointee` may copy a whole `dirent`. Therefore these use the addresses of the fields, never their values.

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> UnsafeBufferPointer<UInt8> {
        let start = UnsafeRawPointer(entry) + nameOffset
        let count = strlen(start.assumingMemoryBound(to: CChar.self))
        return UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count)
    }

    private static func kind(of entry: UnsafeMutablePointer<dirent>) -> FileStatus.Kind? {
        switch Int32(UnsafeRawPointer(entry).load(fromByteOffset: kindOffset, as: UInt8.self)) {
        case Int32(DT_REG): return .file
        case Int32(DT_DIR): return .folder
        case Int32(DT_LNK): return .symbolicLink
        case Int32(DT_UNKNOWN): return nil
        default: return .other
        }
    }

    // Stored fields of a C struct always have offsets.
    private static let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name)!
    private static let kindOffset = MemoryLayout<dirent>.offset(of: \.d_type)!
}
