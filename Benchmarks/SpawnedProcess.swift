import Foundation
import Glibc

/// A child process, whose CPU time and memory can be measured separately.
struct SpawnedProcess {
    private let processID: pid_t

    /// Starts a program with its standard output redirected to `output`. It inherits standard error.
    init(_ path: String, _ arguments: [String], output: String = "/dev/null") throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY, 0)
        // The threads of Swift's pool block all signals; pgbench ends by one.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words = ([path] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        words.append(nil)
        var processID: pid_t = 0
        let code = posix_spawn(&processID, path, &actions, &attributes, words, environ)
        guard code == 0 else { throw RawFileIO.Failure(call: "Starting \(path)", code: code) }
        self.processID = processID
    }

    /// Returns the user and system CPU time of the process, with a resolution of 10 ms.
    func processorTime() throws -> Duration {
        // utime and stime are the 12th and 13th fields after the command name in parentheses (proc(5)).
        let fields = try Self.statistics(of: "\(processID)")
        return .seconds(fields[11] + fields[12]) / sysconf(Int32(_SC_CLK_TCK))
    }

    /// Returns the user and system CPU time of the process and its child processes, with a resolution of 10 ms.
    func processorTimeWithChildren() throws -> Duration {
        // The next two fields are those of children that have exited; the second one is the parent's ID.
        let own = try Self.statistics(of: "\(processID)")
        var ticks = own[11...14].reduce(0, +)
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") where name.allSatisfy(\.isNumber) {
            // Processes may exit concurrently.
            guard let child = try? Self.statistics(of: name), child[1] == Int64(processID) else { continue }
            ticks += child[11...14].reduce(0, +)
        }
        return .seconds(ticks) / sysconf(Int32(_SC_CLK_TCK))
    }

    private static func statistics(of process: String) throws -> [Int64] {
        let stat = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        return stat.split(separator: ")").last?.split(separator: " ").map { Int64($0) ?? 0 } ?? []
    }

    /// Waits until the process and its children use less than a tenth of a processor, for example because it has indexed what was
    /// written; at most 30 seconds.
    func waitUntilIdle() async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        var isIdle = false
        while !isIdle, ContinuousClock.now < deadline {
            let start = try processorTimeWithChildren()
            // Longer than the time for which Hearth's index collects commits.
            try await Task.sleep(for: .milliseconds(700))
            isIdle = try processorTimeWithChildren() - start <= .milliseconds(70)
        }
    }

    /// Returns the resident memory of the process in bytes.
    func residentBytes() throws -> Int {
        try HearthBench.residentBytes(of: "\(processID)")
    }

    /// Waits for the process to exit. Returns whether it succeeded.
    @discardableResult
    func wait() -> Bool {
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0, errno == EINTR {}
        return status == 0
    }

    /// Runs `body`, and terminates the process if it fails.
    func terminatingOnFailure(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            terminate()
            throw error
        }
    }

    /// Sends SIGTERM and waits for the process to exit.
    func terminate() {
        kill(processID, SIGTERM)
        wait()
    }
}

extension SpawnedProcess {
    /// Returns the path of a program in the same folder as this one.
    static func sibling(_ name: String) throws -> String {
        try URL(filePath: FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            .deletingLastPathComponent().appending(path: name).path
    }
}
