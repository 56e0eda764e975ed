import DocumentModel
import Foundation

/// A filter that git starts once for all files of a command.
///
/// [Protocol](https://git-scm.com/docs/gitattributes#_long_running_filter_process)
struct GitFilter {
    private var input: PacketLineReader
    private var output: PacketLineWriter
    /// True to add times to files that git writes.
    private let addsTimes: Bool

    /// - Parameters:
    ///   - addsTimes: True for a folder of documents that a server uses. A file then has, from the beginning, the size with which the
    ///     server writes it again: git takes a file of another size for changed, whatever the filter makes of it. It is also a
    ///     complete document for those who read it before.
    init(_ input: InputFile, _ output: BufferedOutput, addsTimes: Bool) {
        self.input = PacketLineReader(input)
        self.output = PacketLineWriter(output)
        self.addsTimes = addsTimes
    }

    /// Answers requests until git closes the input.
    ///
    /// - Throws: `.invalidArgument` if the input is not that of git.
    mutating func run() throws(StatusError) {
        let hello = try input.nextLines() ?? []
        guard hello.first == "git-filter-client", hello.contains("version=2") else {
            throw StatusError(
                .invalidArgument,
                "Expected git to begin with version 2 of the protocol of filters. `hearth git filter` is started by git: `hearth git "
                    + "init` sets it up."
            )
        }
        try output.write(lines: "git-filter-server", "version=2")
        try output.flush()
        guard try input.nextLines() != nil else { return }
        try output.write(lines: "capability=clean", "capability=smudge")
        try output.flush()
        while let request = try input.nextLines() {
            let contents = try input.nextContents()
            try respond(to: request, contents)
            try output.flush()
        }
    }

    private mutating func respond(to request: [String], _ contents: [UInt8]) throws(StatusError) {
        let filtered: [UInt8]
        if request.contains("command=clean") {
            filtered = Self.clean(contents)
        } else if request.contains("command=smudge") {
            filtered = addsTimes ? Self.smudge(contents, at: .coarse()) : contents
        } else {
            return try output.write(lines: "status=error")
        }
        try output.write(lines: "status=success")
        try output.write(contents: filtered)
        // An empty list: the status is still the same.
        try output.write(contents: [])
    }

    /// Returns a document file without its times and in Hearth's layout; any other text unchanged.
    static func clean(_ contents: [UInt8]) -> [UInt8] {
        (try? UntimedDocument(contents))?.text ?? contents
    }

    /// Returns a document file with a time; any other text unchanged.
    static func smudge(_ contents: [UInt8], at time: Timestamp) -> [UInt8] {
        (try? UntimedDocument(contents))?.text(at: time) ?? contents
    }
}

extension Timestamp {
    /// Returns a time that is not earlier than the last tick of the clock from which file systems take modification times, and that
    /// none of them is: the store takes a file for its own if its modification time is the update time in it.
    fileprivate static func coarse() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        // Ticks are a millisecond or more apart.
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000 + 1
        return (try? Timestamp(microseconds: microseconds)) ?? .minimum
    }
}
