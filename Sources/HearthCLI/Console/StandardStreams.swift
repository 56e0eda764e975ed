import Foundation

/// The standard streams of the process.
enum StandardStreams {
    /// Opens `/dev/null` in place of streams that the parent process has closed. A file opened later would otherwise get the number of one,
    /// and what is meant for the stream would be written to it.
    static func openMissing() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number, which is this one.
            _ = open("/dev/null", O_RDWR)
        }
    }
}
