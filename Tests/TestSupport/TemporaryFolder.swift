package import Foundation

/// A temporary folder, deleted with its contents when the object is deallocated.
package final class TemporaryFolder: Sendable {
    package let path: String

    /// The parent folder for files on disk.
    package static let disk = FileManager.default.temporaryDirectory.path

    /// The parent folder for files in memory: `/dev/shm` if it is writable and has at least 1 GiB free, which is enough for
    /// all concurrent tests; otherwise ``disk``.
    package static let memory: String = {
        let folder = "/dev/shm"
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: folder)
        guard let free = attributes?[.systemFreeSize] as? Int, free >= 1 << 30 else { return disk }
        return FileManager.default.isWritableFile(atPath: folder) ? folder : disk
    }()

    package init(in parent: String = TemporaryFolder.disk) throws {
        path = parent + "/hearth-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The absolute path of a file in the folder.
    package subscript(_ relative: String) -> String {
        path + "/" + relative
    }

    package func write(_ text: String, to relative: String) throws {
        try write(Array(text.utf8), to: relative)
    }

    package func write(_ bytes: [UInt8], to relative: String) throws {
        try FileManager.default.createDirectory(
            atPath: (self[relative] as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true
        )
        try Data(bytes).write(to: URL(filePath: self[relative]))
    }

    package func bytes(of relative: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: self[relative])))
    }

    package func text(of relative: String) throws -> String {
        String(decoding: try bytes(of: relative), as: UTF8.self)
    }

    package func exists(_ relative: String) -> Bool {
        FileManager.default.fileExists(atPath: self[relative])
    }

    package func remove(_ relative: String) throws {
        try FileManager.default.removeItem(atPath: self[relative])
    }

    package func link(_ relative: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: self[relative], withDestinationPath: target)
    }

    package func names(in relative: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self[relative]).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Returns the bytes of all files below a folder, by relative path.
    package func contents(of relative: String) throws -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: self[relative]) {
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: self[relative + "/" + name], isDirectory: &isFolder)
            if !isFolder.boolValue { contents[name] = try bytes(of: relative + "/" + name) }
        }
        return contents
    }

    /// Copies a folder in its current state, as a crash would leave it.
    package func copy(_ relative: String, to other: String) throws {
        try FileManager.default.createDirectory(
            atPath: (self[other] as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true
        )
        for _ in 1..<10 {
            do {
                return try FileManager.default.copyItem(atPath: self[relative], toPath: self[other])
            } catch let error as CocoaError where error.isMissingFile {
                // A temporary file was moved into place while it was being copied.
                try? FileManager.default.removeItem(atPath: self[other])
            }
        }
        try FileManager.default.copyItem(atPath: self[relative], toPath: self[other])
    }
}

extension CocoaError {
    fileprivate var isMissingFile: Bool { code == .fileNoSuchFile || code == .fileReadNoSuchFile }
}

/// Calls `body` with a temporary folder, which is deleted afterward.
package func withTemporaryFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    return try await body(URL(filePath: folder.path, directoryHint: .isDirectory))
}
