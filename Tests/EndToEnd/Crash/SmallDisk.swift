import DocumentModel
import Foundation
import TestSupport

/// A file system of its own in memory, so small that it can be filled.
struct SmallDisk: Sendable {
    let folder: URL

    /// Whether file systems can be mounted here, which takes root and a system that lets root do so.
    static let isAvailable: Bool = {
        let disk = SmallDisk(folder: FileManager.default.temporaryDirectory.appending(path: "hearth-\(UUID().uuidString)"))
        defer { try? FileManager.default.removeItem(at: disk.folder) }
        do {
            try FileManager.default.createDirectory(at: disk.folder, withIntermediateDirectories: true)
            try disk.mount(size: "1m")
            try disk.unmount()
            return true
        } catch {
            return false
        }
    }()

    /// Runs `body` with such a disk of a size as `mount` understands it, and removes it afterwards.
    static func with(size: String, _ body: (SmallDisk) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let disk = SmallDisk(folder: folder)
            try disk.mount(size: size)
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
    func remount(_ option: String) throws {
        try Self.run("mount", ["-o", "remount,\(option)", folder.path])
    }

    private func mount(size: String) throws {
        try Self.run("mount", ["-t", "tmpfs", "-o", "size=\(size)", "tmpfs", folder.path])
    }

    private func unmount() throws {
        try Self.run("umount", [folder.path])
    }

    private static func run(_ command: String, _ arguments: [String]) throws {
        guard try ChildProcess.run("/usr/bin/env", [command] + arguments) == .code(0) else {
            throw StatusError(.unavailable, "\(command) \(arguments.joined(separator: " ")) failed")
        }
    }
}
