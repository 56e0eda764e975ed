/// An event of a program that is relevant to power cuts.
enum TraceEvent: Hashable, Sendable {
    /// A completed change of a file or folder.
    case operation(FileOperation, label: String, end: Int)
    /// A completed sync.
    case sync(SimulatedDisk.Scope, label: String, begin: Int)
    /// Bytes written to a socket or standard output.
    case sent([UInt8])
}
