import DocumentModel
import FileStore
import Foundation
import StorageIO
import UTF8Text

extension Diagnosis {
    /// Adds the data folder at a path, its file system, and the process that has it open. Blocks.
    mutating func addDataFolder(_ path: String, databases: [DatabaseID]) {
        var section = Section("Data folder")
        let folder = URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false)
        section.add("path", folder)
        let summary: DataFolderSummary
        do throws(StatusError) {
            summary = try DataFolderSummary(readingFrom: path)
        } catch {
            section.add("state", error.message)
            return add(section, problems: [error.message])
        }
        section.add("format", "\(summary.format)")
        let time = summary.commitTime.map { ", \($0.rfc3339)" } ?? ""
        section.add("last checkpoint", "commit \(summary.sequence)\(time)")
        let journal = summary.journal
        let first = journal.firstSequence.map { ", from commit \($0)" } ?? ""
        section.add(
            "journal",
            "\(journal.segmentCount.counted("segment")), \(ServerStatus.size(Double(journal.byteCount)))\(first)"
        )
        section.add(
            "files",
            summary.files.map { "\($0.name) \(ServerStatus.size(Double($0.byteCount)))" }.joined(separator: ", ")
        )
        section.add("databases", (["(default)"] + databases.map(\.description)).joined(separator: ", "))
        Self.addProcess(summary, to: &section)
        var problems = Self.addFileSystem(of: folder, to: &section)
        if let mode = try? FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int, mode & 0o007 != 0 {
            problems.append("Other users may enter the data folder: chmod o-rwx \(folder)")
        }
        if !summary.setAside.isEmpty {
            let paths = summary.setAside.joined(separator: ", ")
            section.add("set aside", paths)
            problems.append(
                "A change of primaries has set aside what may be missing elsewhere (\(paths)). Look at it, and delete it then."
            )
        }
        add(section, problems: problems)
    }

    private static func addProcess(_ summary: DataFolderSummary, to section: inout Section) {
        guard let process = summary.lastProcess, let name = contents("/proc/\(process)/comm"), name.hasPrefix("hearth") else {
            section.add(
                "open in",
                summary.isClean ? "no process" : "no process; not shut down cleanly, recovers at the next start"
            )
            return
        }
        let limit = contents("/proc/\(process)/limits")?.firstMatch(of: /Max open files +(\d+)/)
        let memory = contents("/proc/\(process)/status")?.firstMatch(of: /VmRSS:\s+(\d+) kB/).flatMap { Double($0.1) }
        let facts = [
            "process \(process)", memory.map { "\(ServerStatus.size($0 * 1_024)) of memory" },
            limit.map { "up to \($0.1) open files" },
        ]
        section.add("open in", facts.compactMap { $0 }.joined(separator: ", "))
    }

    /// - Returns: The problems.
    private static func addFileSystem(of folder: String, to section: inout Section) -> [String] {
        var problems: [String] = []
        if let table = contents("/proc/self/mountinfo"), let mount = MountTable(table).mount(of: folder) {
            section.add("file system", "\(mount.type) on \(mount.source), at \(mount.path)")
            section.add("mount options", mount.options.joined(separator: ","))
            problems += mount.problems
        }
        do throws(FileSystemError) {
            let descriptor = try FileDescriptor.folder(atPath: folder)
            let space = try descriptor.diskSpace()
            let (free, total) = (Double(space.free), Double(space.total))
            section.add("space", "\(ServerStatus.size(free)) of \(ServerStatus.size(total)) free")
            if free < total * ServerStatus.minimumFreeShare {
                problems.append("The disk is nearly full: \(ServerStatus.size(free)) are free.")
            }
            // Some file systems make inodes as needed.
            guard let inodes = try descriptor.inodes() else { return problems }
            section.add("inodes", "\(inodes.free) of \(inodes.total) free")
            if Double(inodes.free) < Double(inodes.total) * ServerStatus.minimumFreeShare {
                problems.append("The file system has few inodes left, and each document takes one: \(inodes.free) are free.")
            }
        } catch {
            // Its space remains unknown.
        }
        return problems
    }
}
