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
        var words = ([path] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        words.append(nil)
        var processID: pid_t = 0
        let code = posix_spawn(&processID, path, &actions, nil, words, environ)
        guard code == 0 else { throw RawFileIO.Failure(call: "Starting \(path)", code: code) }
        self.processID = processID
    }

    /// Returns the user and system CPU time of the process, with a resolution of 10 ms.
    func processorTime() throws -> Duration {
        // utime and stime are the 12th and 13th fields after the command name in parentheses (proc(5)).
        let stat = try String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8)
        let fields = stat.split(separator: ")").last?.split(separator: " ").map { Int64($0) ?? 0 } ?? []
        return .seconds(fields[11] + fields[12]) / sysconf(Int32(_SC_CLK_TCK))
    }

    /// Returns the resident memory of the process in bytes.
    func residentBytes() throws -> Int {
        try HearthBench.residentBytes(of: "\(processID)")
    }

    /// Waits for the process to exit.
    func wait() {
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0, errno == EINTR {}
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
