package import Foundation

/// A file system of its own in memory, so small that it can be filled.
package struct SmallDisk: Sendable {
    /// Where it is mounted.
    package let folder: URL

    /// A command that failed.
    package struct Failure: Error {
        /// The command, with its arguments.
        package let command: String
    }

    /// Whether file systems can be mounted here, which takes root and a system that lets root do so.
    package static let isAvailable: Bool = {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hearth-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            try SmallDisk(at: folder, size: "1m").unmount()
            return true
        } catch {
            return false
        }
    }()

    /// Mounts one of a size as `mount` understands it, at a folder that is made as needed.
    package init(at folder: URL, size: String) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Self.run("mount", ["-t", "tmpfs", "-o", "size=\(size)", "tmpfs", folder.path])
    }

    /// Runs `body` with such a disk, and removes it afterwards.
    package static func with(size: String, _ body: (SmallDisk) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let disk = try SmallDisk(at: folder, size: size)
            do {
                try await body(disk)
            } catch {
                try disk.unmount()
                throw error
            }
            try disk.unmount()
        }
    }

    /// Changes how it is mounted: `size=8m`, `ro`, `rw`.
    package func remount(_ option: String) throws {
        try Self.run("mount", ["-o", "remount,\(option)", folder.path])
    }

    /// Takes all the room that is left.
    package func fill() throws {
        let path = folder.appending(path: "ballast").path
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(command: "open \(path)") }
        defer { close(file) }
        let page = [UInt8](repeating: 1, count: 4_096)
        while write(file, page, page.count) > 0 {}
    }

    /// Takes it away, also while files on it are open.
    package func unmount() throws {
        try Self.run("umount", ["-l", folder.path])
    }

    private static func run(_ command: String, _ arguments: [String]) throws {
        guard try ChildProcess.run("/usr/bin/env", [command] + arguments) == .code(0) else {
            throw Failure(command: ([command] + arguments).joined(separator: " "))
        }
    }
}
