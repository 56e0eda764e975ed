import Foundation

/// Processes that consume CPU time, to simulate other load on the machine.
enum BackgroundLoad {
    /// Calls `body` while `count` processes compete for the CPUs.
    static func with<Result>(_ count: Int, _ body: () async throws -> Result) async throws -> Result {
        var processes: [SpawnedProcess] = []
        defer { for process in processes { process.terminate() } }
        for _ in 0..<count { processes.append(try SpawnedProcess("/bin/sh", ["-c", "while :; do :; done"])) }
        return try await body()
    }
}
