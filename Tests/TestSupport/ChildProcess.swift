package import Foundation
import Synchronization

/// A child process, started with `posix_spawn`, that inherits three descriptors and nothing else of the tests.
///
/// Foundation's `Process` is not used: in Swift 6.3 it may read beyond a buffer while it looks for open descriptors, and so end
/// the tests (swift-corelibs-foundation, pull request 5472).
package final class ChildProcess: Sendable {
    package let processID: Int32
    /// Whether it was waited for: after that its number may be another's.
    private let isOver = Mutex(false)

    /// How a process ended.
    package enum ExitStatus: Hashable, Sendable {
        case code(Int32)
        case signal(Int32)
    }

    /// A call that failed.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        init(_ call: String, _ code: Int32) {
            description = "\(call): \(String(cString: strerror(code)))"
        }
    }

    /// Starts a program; a descriptor that is nil is `/dev/null` there.
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
        // The threads that tests run on block signals, and a child would inherit that.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var processID: Int32 = 0
        let failure = Self.withStrings([program] + arguments) { arguments in
            Self.withStrings(environment.map { "\($0)=\($1)" }) { environment in
                posix_spawn(&processID, program, &actions, &attributes, arguments, environment)
            }
        }
        guard failure == 0 else { throw Failure("posix_spawn \(program)", failure) }
        self.processID = processID
    }

    /// Sends a signal, unless the process was waited for.
    package func send(_ signal: Int32) {
        isOver.withLock { if !$0 { kill(processID, signal) } }
    }

    /// Waits on the calling thread until the process has ended. To be called once.
    package func wait() -> ExitStatus {
        var information = siginfo_t()
        while waitid(P_PID, id_t(processID), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return isOver.withLock { isOver in
            isOver = true
            var status: Int32 = 0
            waitpid(processID, &status, 0)
            let signal = status & 0x7f
            return signal == 0 ? .code((status >> 8) & 0xff) : .signal(signal)
        }
    }

    /// Waits on a thread of its own until the process has ended: how it ended, as the only element. To be asked once.
    package func exits() -> AsyncStream<ExitStatus> {
        let (exits, exit) = AsyncStream.makeStream(of: ExitStatus.self)
        Thread.detachNewThread {
            exit.yield(self.wait())
            exit.finish()
        }
        return exits
    }

    /// Runs a program to its end, without its output.
    package static func run(_ program: String, _ arguments: [String]) throws -> ExitStatus {
        try ChildProcess(program, arguments).wait()
    }

    /// Two ends of a connection, of which no other child process gets one, one that is started at the same moment neither.
    package static func connection() throws -> (FileHandle, FileHandle) {
        var ends: [Int32] = [0, 0]
        // Unlike a pipe, a pair of sockets can be made in one step so that it is not inherited.
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
