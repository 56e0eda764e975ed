import Foundation
import TestSupport

/// A program that runs under `strace`.
final class TracedProcess: Sendable {
    /// The lines of standard output.
    let output: AsyncStream<String>
    private let exits: AsyncStream<ChildProcess.ExitStatus>
    private let process: ChildProcess
    private let trace: URL

    /// A recording failed.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Starts a program and writes its file-related system calls, and all its output, to `trace`.
    init(_ command: [String], trace: URL, environment: [String: String] = [:]) throws {
        guard let strace = Self.strace else {
            throw Failure(
                description: "strace is not in the PATH. Install the Debian package strace."
            )
        }
        let (reader, writer) = try ChildProcess.connection()
        let errors = trace.appendingPathExtension("errors")
        try Data().write(to: errors)
        let process = try ChildProcess(
            strace.path,
            Self.options + ["-o", trace.path, "--"] + command,
            environment: ProcessInfo.processInfo.environment
                .filter { !$0.key.hasPrefix("HEARTH_") }
                .merging(environment) { $1 },
            output: writer,
            errors: try FileHandle(forWritingTo: errors)
        )
        try writer.close()
        self.process = process
        self.exits = process.exits()
        self.output = .lines(of: reader)
        self.trace = trace
    }

    /// The standard error of the program and of strace.
    var errors: String {
        (try? String(contentsOf: trace.appendingPathExtension("errors"), encoding: .utf8)) ?? ""
    }

    /// Sends a signal to the program, which must have made a system call already.
    func send(_ signal: Int32) throws {
        // Each line of the trace begins with a thread ID; that of the first thread is the process ID.
        let start = try FileHandle(forReadingFrom: trace).read(upToCount: 20) ?? Data()
        guard let process = Int32(String(decoding: start.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)) else {
            throw Failure(description: "The trace is empty.")
        }
        kill(process, signal)
    }

    /// Waits until the program has exited; returns its exit code, or the signal that killed it.
    func end() async throws -> Int32 {
        for await status in exits {
            switch status {
            case .code(let code): return code
            case .signal(let signal): return signal
            }
        }
        process.send(SIGTERM)
        throw CancellationError()
    }

    /// The maximum string length in the trace; only the zeros of preallocated files are longer.
    private static let shownBytes = 16_384

    private static let options = [
        "-f", "-qq", "-xx", "-s", "\(shownBytes)", "-e", "signal=none", "-e",
        "trace="
            + [
                "open", "openat", "creat", "close", "dup", "dup2", "dup3", "fcntl",
                "write", "writev", "pwrite64", "pwritev", "pwritev2", "sendto", "sendmsg", "sendfile", "splice",
                "copy_file_range",
                "truncate", "ftruncate", "fallocate", "fsync", "fdatasync", "syncfs", "sync", "sync_file_range", "msync",
                "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "unlink", "unlinkat",
                "mkdir", "mkdirat", "rmdir",
            ].map { "?" + $0 }.joined(separator: ","),
    ]

    private static var strace: URL? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return path.split(separator: ":")
            .map { URL(fileURLWithPath: String($0)).appendingPathComponent("strace") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
