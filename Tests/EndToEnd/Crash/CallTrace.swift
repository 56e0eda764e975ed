import Foundation

/// The file-modifying system calls of a server, in the order counted by the fault shim.
struct CallTrace {
    /// A system call.
    struct Call: Sendable, CustomStringConvertible {
        let number: Int
        let kind: String
        let path: String

        /// True if the call can be interrupted partway.
        var writes: Bool { kind == "write" || kind == "pwrite" }
        var description: String { "\(number) \(kind) \(path)" }
    }

    let calls: [Call]

    /// Parses a log of the fault shim.
    init(log: URL) throws {
        calls = try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map { line in
            let parts = line.split(separator: " ", maxSplits: 2)
            guard parts.count == 3, let number = Int(parts[0]) else { throw CocoaError(.fileReadCorruptFile) }
            return Call(number: number, kind: String(parts[1]), path: String(parts[2]))
        }
    }

    /// Returns the calls to test: all with `HEARTH_CRASH_ALL=1`, otherwise about `count`, evenly spaced and different in each run.
    func sample(count: Int) -> [Call] {
        let stride = CrashRandom.environmentNumber("HEARTH_CRASH_ALL") == 1 ? 1 : max(1, (calls.count + count - 1) / count)
        return calls.filter { ($0.number + Int(CrashRandom.seed % UInt64(stride))).isMultiple(of: stride) }
    }
}
