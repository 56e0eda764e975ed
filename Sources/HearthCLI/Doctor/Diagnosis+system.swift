import CLinux
import Foundation
import HearthAPI
import HearthHTTP

extension Diagnosis {
    private static let minimumOpenFiles = 4_096
    private static let minimumMemory = 512.0 * 1_048_576

    /// Adds the program, and the machine that it runs on. Blocks.
    mutating func addSystem() {
        var section = Section("System")
        var problems: [String] = []
        section.add("hearth", "\(ServerDescription.version)")
        section.add("system", ProcessInfo.processInfo.operatingSystemVersionString)
        section.add("kernel", Self.contents("/proc/sys/kernel/osrelease")?.trimmingCharacters(in: .whitespacesAndNewlines))
        section.add("processors", "\(ProcessInfo.processInfo.activeProcessorCount)")
        let memory = Double(ProcessInfo.processInfo.physicalMemory)
        let limit = Self.contents("/sys/fs/cgroup/memory.max").flatMap {
            Double($0.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        section.add("memory", ServerStatus.size(memory) + (limit.map { ", limited to \(ServerStatus.size($0))" } ?? ""))
        if min(memory, limit ?? memory) < Self.minimumMemory {
            problems.append("There is little memory: \(ServerStatus.size(min(memory, limit ?? memory))).")
        }
        // As a server does.
        let openFiles = OpenFileLimit.raise().count
        section.add("open files", "up to \(openFiles) for a process")
        if openFiles < Self.minimumOpenFiles {
            problems.append("A process may open only \(openFiles) files, which limits connections: raise the limit (ulimit -n).")
        }
        switch clinux_clock_is_synchronized() {
        case 1: section.add("clock", "synchronized")
        case 0:
            section.add("clock", "not synchronized")
            problems.append(
                "The system's clock is not synchronized, and commit times follow it: start systemd-timesyncd or chrony."
            )
        default: section.add("clock", "unknown whether synchronized")
        }
        add(section, problems: problems)
    }

    /// Returns the text of a file; `nil` if it cannot be read.
    static func contents(_ path: String) -> String? {
        (FileManager.default.contents(atPath: path)).map { String(decoding: $0, as: UTF8.self) }
    }
}
