import Cryptography
internal import StorageIO
internal import UTF8Text

/// The lines of the list of a backup's files, in the format of `sha256sum`: a digest, two spaces, and a path.
///
/// A line whose path has a backslash or a line feed begins with a backslash, and has `\\\\` and `\\n` in their place.
enum BackupFileList {
    /// A file of a backup.
    struct Entry {
        /// The path in the backup.
        let path: String
        /// The SHA-256 digest.
        let digest: [UInt8]

        /// The names of the folders that contain the file, and its own.
        var components: [Substring] { path.pathComponents }
    }

    private static let digestCharacters = 64

    /// Returns the line of a file.
    static func line(_ path: String, _ digest: [UInt8]) -> [UInt8] {
        let isEscaped = path.utf8.contains { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\n") }
        var line = isEscaped ? [UInt8(ascii: "\\")] : []
        line.reserveCapacity(digestCharacters + 4 + path.utf8.count)
        line += Hexadecimal.encode(digest).utf8
        line += "  ".utf8
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): line += "\\\\".utf8
            case UInt8(ascii: "\n"): line += "\\n".utf8
            default: line.append(byte)
            }
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// Parses a line without its line feed; `nil` if it is not one of a backup: its path must lead to a file in the backup.
    static func entry(_ line: ArraySlice<UInt8>) -> Entry? {
        let isEscaped = line.first == UInt8(ascii: "\\")
        let line = line.dropFirst(isEscaped ? 1 : 0)
        guard let digest = Hexadecimal.decode(line.prefix(digestCharacters)), digest.count == digestCharacters / 2 else {
            return nil
        }
        let rest = line.dropFirst(digestCharacters)
        guard rest.starts(with: "  ".utf8) else { return nil }
        var path: [UInt8] = []
        var isAfterBackslash = false
        for byte in rest.dropFirst(2) {
            if isAfterBackslash {
                path.append(byte == UInt8(ascii: "n") ? UInt8(ascii: "\n") : byte)
                isAfterBackslash = false
            } else if isEscaped, byte == UInt8(ascii: "\\") {
                isAfterBackslash = true
            } else {
                path.append(byte)
            }
        }
        guard let text = String(validating: path, as: UTF8.self), !path.contains(0) else { return nil }
        let entry = Entry(path: text, digest: digest)
        return entry.components.allSatisfy { !["", ".", ".."].contains($0) } ? entry : nil
    }
}

extension BackupFileList {
    private static let pieceBytes = 1 << 20
    /// The maximum length of a line: paths are shorter.
    private static let maximumLineBytes = 64 << 10

    /// Returns the SHA-256 digest of the list in a backup, and the number of its lines.
    static func digest(in folder: SharedFileDescriptor) throws(FileSystemError) -> (digest: [UInt8], lineCount: Int) {
        let file = try folder.descriptor.openFile(BackupWriter.fileListName, for: .reading)
        var digest = SHA256()
        var lineCount = 0
        var offset = 0
        while case let bytes = try file.read(pieceBytes, at: offset), !bytes.isEmpty {
            digest.update(bytes)
            lineCount += bytes.count { $0 == UInt8(ascii: "\n") }
            offset += bytes.count
        }
        return (Array(digest.finalize()), lineCount)
    }

    /// A reader of the list in a backup.
    struct Reader: ~Copyable {
        private let file: FileDescriptor
        private var offset = 0
        private var buffer: [UInt8] = []
        private var position = 0

        init(_ folder: SharedFileDescriptor) throws(FileSystemError) {
            file = try folder.descriptor.openFile(BackupWriter.fileListName, for: .reading)
        }

        /// Returns the next line without its line feed; `nil` at the end.
        mutating func next() throws(FileSystemError) -> ArraySlice<UInt8>? {
            while true {
                if let end = buffer[position...].firstIndex(of: UInt8(ascii: "\n")) {
                    defer { position = end + 1 }
                    return buffer[position..<end]
                }
                let rest = buffer[position...]
                let bytes = try file.read(pieceBytes, at: offset)
                guard !bytes.isEmpty, rest.count <= maximumLineBytes else { return nil }
                offset += bytes.count
                buffer = rest + bytes
                position = 0
            }
        }
    }
}
