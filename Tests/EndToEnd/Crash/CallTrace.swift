import Foundation

/// The calls of a server that change files, in the order in which the shim counted them.
struct CallTrace {
    /// One call.
    struct Call: Sendable, CustomStringConvertible {
        let number: Int
        let kind: String
        let path: String

        /// Whether it can be cut short.
        var writes: Bool { kind == "write" || kind == "pwrite" }
        var description: String { "\(number) \(kind) \(path)" }
    }

    let calls: [Call]

    /// Reads a log of the shim's.
    init(log: URL) throws {
        calls = try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map { line in
            let parts = line.split(separator: " ", maxSplits: 2)
            guard parts.count == 3, let number = Int(parts[0]) else { throw CocoaError(.fileReadCorruptFile) }
            return Call(number: number, kind: String(parts[1]), path: String(parts[2]))
        }
    }

    /// The calls that a run visits: all with `HEARTH_CRASH_ALL=1`, else about `count` of them, evenly spread and others in
    /// each run.
    func visited(count: Int) -> [Call] {
        let stride = CrashRandom.environmentNumber("HEARTH_CRASH_ALL") == 1 ? 1 : max(1, (calls.count + count - 1) / count)
        return calls.filter { ($0.number + Int(CrashRandom.seed % UInt64(stride))).isMultiple(of: stride) }
    }
}
