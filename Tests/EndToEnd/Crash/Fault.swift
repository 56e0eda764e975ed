import Foundation

/// An injected fault in the system calls of a server; see `Tests/FaultShim/fault.c`.
struct Fault: Hashable, Sendable, CustomStringConvertible {
    let description: String
    /// True if the fault kills the process.
    let isFatal: Bool

    /// The moment, relative to a call, at which the process is killed.
    enum KillMoment: String, CaseIterable, Sendable {
        case before
        case within
        case after
    }

    /// Kills the process at a file-modifying call.
    static func kill(_ moment: KillMoment, call number: Int) -> Fault {
        Fault(description: "kill-\(moment.rawValue):\(number)", isFatal: true)
    }

    /// Makes one call of a kind fail.
    static func fail(_ kind: String, with error: String, call number: Int = 1) -> Fault {
        Fault(description: "fail:\(kind):\(error):\(number)", isFatal: false)
    }

    /// Makes all calls of a kind fail, starting with the n-th.
    static func failing(_ kind: String, with error: String, from number: Int = 1) -> Fault {
        Fault(description: "fail-from:\(kind):\(error):\(number)", isFatal: false)
    }

    /// Blocks calls of a kind while the gate exists, like a slow disk.
    static func hold(_ kind: String) -> Fault {
        Fault(description: "hold:\(kind)", isFatal: false)
    }
}

/// The configuration of the fault shim for one server.
struct FaultPlan: Sendable {
    /// The fault; `nil` to only count calls.
    var fault: Fault?
    /// The log file for counted calls.
    var log: URL?
    /// The gate file, which enables counting and faults while it exists; `nil` for always.
    var gate: URL?

    /// Returns the environment variables for a server.
    func environment(for data: URL) throws -> [String: String] {
        // Resolves links in the parent folder only, since the data folder may not exist yet.
        let root = data.deletingLastPathComponent().resolvingSymlinksInPath().appending(path: data.lastPathComponent)
        var environment = ["LD_PRELOAD": try FaultShim.library.get().path, "HEARTH_FAULT_ROOT": root.path]
        environment["HEARTH_FAULT"] = fault?.description
        environment["HEARTH_FAULT_LOG"] = log?.path
        environment["HEARTH_FAULT_GATE"] = gate?.path
        return environment
    }
}
