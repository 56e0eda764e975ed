/// What a program did, as far as a power cut is concerned.
enum TraceEvent: Hashable, Sendable {
    /// A change of a file or folder, when it had returned.
    case operation(FileOperation, label: String, end: Int)
    /// A sync that succeeded, when it had returned.
    case sync(Disk.Scope, label: String, begin: Int)
    /// Bytes written to something else: a socket, or standard output.
    case sent([UInt8])
}
