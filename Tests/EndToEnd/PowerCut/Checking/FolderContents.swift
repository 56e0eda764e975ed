import Foundation
import UTF8Text

/// Reads and writes file trees on disk.
enum FolderContents {
    /// A file or folder could not be read or created.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let code = errno

        var description: String { "\(path): \(String(cString: strerror(code)))" }
    }

    /// Creates files and folders in an existing folder.
    ///
    /// - Parameter maximumZeros: The maximum number of trailing zeros per file.
    static func write(_ items: [FileTree.Item], to folder: URL, maximumZeros: Int = .max) throws(Failure) {
        for item in items {
            let path = item.path.reduce(folder.path) { $0 + "/" + $1.string }
            guard let bytes = item.bytes else {
                guard mkdir(path, 0o700) == 0 else { throw Failure(path: path) }
                continue
            }
            let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw Failure(path: path) }
            defer { close(file) }
            let written = bytes.stored.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
            let zeros = min(bytes.count - bytes.stored.count, maximumZeros)
            guard written == bytes.stored.count, ftruncate(file, off_t(written + zeros)) == 0 else { throw Failure(path: path) }
        }
    }

    /// Returns all files and folders in a folder, each folder before its contents.
    static func items(in folder: URL) throws -> [FileTree.Item] {
        var items: [FileTree.Item] = []
        try collect(folder.path, [], into: &items)
        return items
    }

    private static func collect(_ folder: String, _ names: [UTF8Key], into items: inout [FileTree.Item]) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder).map({ UTF8Key($0) }).sorted() {
            let path = folder + "/" + name.string
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { throw Failure(path: path) }
            if isFolder.boolValue {
                items.append(FileTree.Item(path: names + [name], bytes: nil))
                try collect(path, names + [name], into: &items)
            } else {
                let bytes = FileBytes(Array(try Data(contentsOf: URL(fileURLWithPath: path))))
                items.append(FileTree.Item(path: names + [name], bytes: bytes))
            }
        }
    }
}
