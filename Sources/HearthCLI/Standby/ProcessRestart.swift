import CLinux
import DocumentModel
import Foundation

/// The restart of a server in its process: the program begins anew, with the same arguments, on the same port.
enum ProcessRestart {
    /// Begins the program anew. Everything must be closed.
    ///
    /// - Parameter port: The port on which the server has listened, which its arguments may have left to the system.
    /// - Throws: `.unavailable` if the program cannot be started.
    static func restart(port: Int) throws(StatusError) -> Never {
        // A program inherits which signals are ignored and blocked, and the descriptors without O_CLOEXEC, such as sockets.
        for number in [SIGTERM, SIGINT, SIGHUP, SIGPIPE] { signal(number, SIG_DFL) }
        var signals = sigset_t()
        sigemptyset(&signals)
        pthread_sigmask(SIG_SETMASK, &signals, nil)
        clinux_close_files_on_exec()
        // The last value of an option counts.
        var arguments = CommandLine.arguments
        let option = ["--port", "\(port)"]
        if arguments.suffix(2) != option[...] { arguments += option }
        var pointers = arguments.map { strdup($0) } + [nil]
        // By its path, so that its name stays, and a version that was installed meanwhile begins.
        if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: executable) {
            execv(path.hasSuffix(deletedSuffix) ? String(path.dropLast(deletedSuffix.count)) : path, &pointers)
        }
        execv(executable, &pointers)
        throw StatusError(
            .unavailable,
            "Could not restart (\(String(cString: strerror(errno)))). Start the server again: it goes on where it was."
        )
    }

    private static let executable = "/proc/self/exe"
    /// The end of the path of a program that was replaced.
    private static let deletedSuffix = " (deleted)"
}
