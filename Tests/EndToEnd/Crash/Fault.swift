import Foundation

/// What goes wrong in a server's system calls; see `Tests/FaultShim/include/fault.h`.
struct Fault: Hashable, Sendable, CustomStringConvertible {
    let description: String
    /// Whether it ends the process.
    let isDeadly: Bool

    /// When, around a call, a process is killed.
    enum Moment: String, CaseIterable, Sendable {
        case before
        case within
        case after
    }

    /// Kills the process at one of its calls that change files.
    static func kill(_ moment: Moment, call number: Int) -> Fault {
        Fault(description: "kill-\(moment.rawValue):\(number)", isDeadly: true)
    }

    /// Lets one call of a kind fail.
    static func fail(_ kind: String, with error: String, call number: Int = 1) -> Fault {
        Fault(description: "fail:\(kind):\(error):\(number)", isDeadly: false)
    }

    /// Lets all calls of a kind fail, from one on.
    static func failing(_ kind: String, with error: String, from number: Int = 1) -> Fault {
        Fault(description: "fail-from:\(kind):\(error):\(number)", isDeadly: false)
    }

    /// Holds calls of a kind up, as a slow disk does, as long as the gate is there.
    static func hold(_ kind: String) -> Fault {
        Fault(description: "hold:\(kind)", isDeadly: false)
    }
}

/// How the calls of one server are counted and made to go wrong.
struct FaultPlan: Sendable {
    /// The fault, or nil when calls are counted only.
    var fault: Fault?
    /// The file to which each counted call is written.
    var log: URL?
    /// While this file exists, calls are counted and go wrong; nil: always.
    var gate: URL?

    /// The environment of a server of a data folder.
    func environment(for data: URL) -> [String: String] {
        // A folder that doesn't exist yet has no links of its own to follow.
        let root = data.deletingLastPathComponent().resolvingSymlinksInPath().appending(path: data.lastPathComponent)
        var environment = [
            "LD_PRELOAD": HearthProcess.products.appending(path: "libFaultShim.so").path, "HEARTH_FAULT_ROOT": root.path,
        ]
        environment["HEARTH_FAULT"] = fault?.description
        environment["HEARTH_FAULT_LOG"] = log?.path
        environment["HEARTH_FAULT_GATE"] = gate?.path
        return environment
    }
}
