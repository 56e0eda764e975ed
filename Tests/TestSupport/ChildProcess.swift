package import Foundation
import Synchronization

/// A child process started with `posix_spawn`, which inherits three file descriptors and nothing else.
///
/// Foundation's `Process` is not used: in Swift 6.3 it may read past the end of a buffer while it enumerates open descriptors,
/// which crashes the tests (swift-corelibs-foundation, pull request 5472).
package final class ChildProcess: Sendable {
    package let processID: Int32
    /// True if the process was reaped. After that, its process ID may be reused.
    private let hasExited = Mutex(false)

    /// The exit status of a process.
    package enum ExitStatus: Hashable, Sendable {
        case code(Int32)
        case signal(Int32)
    }

    /// A failed system call.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        init(_ call: String, _ code: Int32) {
            description = "\(call): \(String(cString: strerror(code)))"
        }
    }

    /// Starts a program. A `nil` handle is replaced by `/dev/null`.
    package init(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = ProcessInfo.processInfo.environment,
        input: FileHandle? = nil,
        output: FileHandle? = nil,
        errors: FileHandle? = nil
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, handle) in [input, output, errors].enumerated() {
            if let handle {
                posix_spawn_file_actions_adddup2(&actions, handle.fileDescriptor, Int32(number))
            } else {
                posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
            }
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The test threads block signals, and a test process in the background ignores SIGINT. A child would inherit both.
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var processID: Int32 = 0
        let failure = Self.withStrings([program] + arguments) { arguments in
            Self.withStrings(environment.map { "\($0)=\($1)" }) { environment in
                posix_spawn(&processID, program, &actions, &attributes, arguments, environment)
            }
        }
        guard failure == 0 else { throw Failure("posix_spawn \(program)", failure) }
        self.processID = processID
    }

    /// Sends a signal, unless the process was reaped.
    package func send(_ signal: Int32) {
        hasExited.withLock { if !$0 { kill(processID, signal) } }
    }

    /// Blocks the calling thread until the process exits, and returns its status. Call it once.
    package func wait() -> ExitStatus {
        var information = siginfo_t()
        while waitid(P_PID, id_t(processID), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return hasExited.withLock { hasExited in
            hasExited = true
            var status: Int32 = 0
            waitpid(processID, &status, 0)
            let signal = status & 0x7f
            return signal == 0 ? .code((status >> 8) & 0xff) : .signal(signal)
        }
    }

    /// Waits for the process on a separate thread, and yields its exit status as the only element. Call it once.
    package func exits() -> AsyncStream<ExitStatus> {
        let (exits, exit) = AsyncStream.makeStream(of: ExitStatus.self)
        Thread.detachNewThread {
            exit.yield(self.wait())
            exit.finish()
        }
        return exits
    }

    /// Runs a program until it exits, discarding its output.
    package static func run(_ program: String, _ arguments: [String]) throws -> ExitStatus {
        try ChildProcess(program, arguments).wait()
    }

    /// Returns the two ends of a connection that no other child process inherits, even one that is started concurrently.
    package static func connection() throws -> (FileHandle, FileHandle) {
        var ends: [Int32] = [0, 0]
        // Unlike a pipe, a socket pair can be created with close-on-exec atomically.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Failure("socketpair", errno) }
        return (
            FileHandle(fileDescriptor: ends[0], closeOnDealloc: true), FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        )
    }

    private static func withStrings<Result>(
        _ strings: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for case let copy? in copies { free(copy) } }
        return body(copies + [nil])
    }
}
