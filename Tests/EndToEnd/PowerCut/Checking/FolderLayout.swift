import Foundation
import StrictJSON

/// Between a tree of files as a value and a folder that has it.
enum FolderLayout {
    /// How a file or folder could not be read or made.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let code = errno

        var description: String { "\(path): \(String(cString: strerror(code)))" }
    }

    /// Makes files and folders in a folder that exists.
    ///
    /// - Parameter zeros: How many zeros at the end of a file are written at most.
    static func lay(out items: [FileTree.Item], in folder: URL, zeros: Int = .max) throws(Failure) {
        for item in items {
            let path = item.path.reduce(folder.path) { $0 + "/" + $1.string }
            guard let bytes = item.bytes else {
                guard mkdir(path, 0o700) == 0 else { throw Failure(path: path) }
                continue
            }
            let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw Failure(path: path) }
            defer { close(file) }
            let written = bytes.stored.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            let zeros = min(bytes.count - bytes.stored.count, zeros)
            guard written == bytes.stored.count, ftruncate(file, off_t(written + zeros)) == 0 else { throw Failure(path: path) }
        }
    }

    /// All files and folders in a folder, each folder before what is in it.
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
