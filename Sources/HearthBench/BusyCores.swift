import Foundation

/// Programs that do nothing but take processor time, as a busy machine's other work does.
enum BusyCores {
    /// Runs `body` while `count` programs compete with it.
    static func with<Result>(_ count: Int, _ body: () async throws -> Result) async throws -> Result {
        var programs: [ChildProgram] = []
        defer { for program in programs { program.end() } }
        for _ in 0..<count { programs.append(try ChildProgram("/bin/sh", ["-c", "while :; do :; done"])) }
        return try await body()
    }
}
