package import Foundation

/// A small tmpfs volume, which a test can fill up.
package struct TmpfsVolume: Sendable {
    /// The mount point.
    package let folder: URL

    /// A failed command.
    package struct Failure: Error {
        /// The command, with its arguments.
        package let command: String
    }

    /// True if the process may mount file systems, which requires root and a kernel or container that permits it.
    package static let isAvailable: Bool = {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hearth-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            try TmpfsVolume(at: folder, size: "1m").unmount()
            return true
        } catch {
            return false
        }
    }()

    /// Mounts a volume at `folder`, which is created if needed, with a size in the syntax of `mount`.
    ///
    /// - Parameter inodes: The number of inodes; `nil` for the default.
    package init(at folder: URL, size: String, inodes: Int? = nil) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let options = "size=\(size)" + (inodes.map { ",nr_inodes=\($0)" } ?? "")
        try Self.run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder.path])
    }

    /// Calls `body` with a volume, and unmounts it afterward.
    package static func with(
        size: String,
        inodes: Int? = nil,
        _ body: (TmpfsVolume) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let volume = try TmpfsVolume(at: folder, size: size, inodes: inodes)
            do {
                try await body(volume)
            } catch {
                try volume.unmount()
                throw error
            }
            try volume.unmount()
        }
    }

    /// Changes a mount option: `size=8m`, `ro`, `rw`.
    package func remount(_ option: String) throws {
        try Self.run("mount", ["-o", "remount,\(option)", folder.path])
    }

    /// Fills the remaining space, to the last byte.
    package func fill() throws {
        let path = folder.appending(path: "ballast").path
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(command: "open \(path)") }
        defer { close(file) }
        let page = [UInt8](repeating: 1, count: 4_096)
        while write(file, page, page.count) > 0 {}
    }

    /// Takes all free inodes.
    package func fillInodes() throws {
        let files = folder.appending(path: "inodes")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        var number = 0
        while true {
            let file = open(files.appending(path: "\(UUID().uuidString)-\(number)").path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            guard file >= 0 else { return }
            close(file)
            number += 1
        }
    }

    /// Unmounts the volume, even if files on it are open.
    package func unmount() throws {
        try Self.run("umount", ["-l", folder.path])
    }

    private static func run(_ command: String, _ arguments: [String]) throws {
        guard try ChildProcess.run("/usr/bin/env", [command] + arguments) == .code(0) else {
            throw Failure(command: ([command] + arguments).joined(separator: " "))
        }
    }
}
