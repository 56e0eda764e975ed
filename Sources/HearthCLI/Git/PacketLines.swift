import DocumentModel
import UTF8Text

/// A reader of packet lines, the framing of git's protocols: four hexadecimal digits with the length of the packet, these digits
/// included, and its contents. A length of zero is a flush packet, which ends a list.
///
/// [Documentation](https://git-scm.com/docs/protocol-common#_pkt_line_format)
struct PacketLineReader {
    private let file: InputFile
    private var buffer: ArraySlice<UInt8> = []

    private static let headerLength = 4

    /// Creates a reader of a file, which nothing else reads.
    init(_ file: InputFile) {
        self.file = file
    }

    /// Returns the packets up to the next flush packet, each as text without the line feed at its end; `nil` at the end of the file.
    mutating func nextLines() throws(StatusError) -> [String]? {
        var lines: [String] = []
        while true {
            guard let packet = try nextPacket(canEnd: lines.isEmpty) else { return nil }
            guard !packet.isEmpty else { return lines }
            lines.append(String(decoding: packet.last == UInt8(ascii: "\n") ? packet.dropLast() : packet, as: UTF8.self))
        }
    }

    /// Returns the contents of the packets up to the next flush packet.
    mutating func nextContents() throws(StatusError) -> [UInt8] {
        var contents: [UInt8] = []
        while let packet = try nextPacket(canEnd: false), !packet.isEmpty { contents += packet }
        return contents
    }

    /// Returns the contents of the next packet, which are empty for a flush packet; `nil` at the end of the file, if it may be there.
    private mutating func nextPacket(canEnd: Bool) throws(StatusError) -> ArraySlice<UInt8>? {
        guard try fill(Self.headerLength, canEnd: canEnd) else { return nil }
        let header = buffer.prefix(Self.headerLength)
        guard let length = Int(String(decoding: header, as: UTF8.self), radix: 16), length == 0 || length > Self.headerLength
        else {
            throw StatusError(
                .invalidArgument,
                "Expected the length of a packet of git, found \(Excerpt(String(decoding: header, as: UTF8.self)))."
            )
        }
        guard length > 0 else {
            buffer = buffer.dropFirst(Self.headerLength)
            return []
        }
        _ = try fill(length, canEnd: false)
        defer { buffer = buffer.dropFirst(length) }
        return buffer.prefix(length).dropFirst(Self.headerLength)
    }

    /// Reads until the buffer has a number of bytes. Returns `false` at the end of the file, if it may be there.
    private mutating func fill(_ count: Int, canEnd: Bool) throws(StatusError) -> Bool {
        while buffer.count < count {
            guard let chunk = try file.nextChunk() else {
                guard canEnd, buffer.isEmpty else {
                    throw StatusError(.invalidArgument, "\(file.name) ends in the middle of a request.")
                }
                return false
            }
            buffer = ArraySlice(buffer + chunk)
        }
        return true
    }
}

/// A writer of packet lines.
struct PacketLineWriter {
    private var output: BufferedOutput

    /// The maximum length of the contents of a packet.
    private static let maximumLength = 65_516

    /// Creates a writer to a file, to which nothing else writes.
    init(_ output: BufferedOutput) {
        self.output = output
    }

    /// Writes packets of text, and a flush packet.
    mutating func write(lines: String...) throws(StatusError) {
        for line in lines { try writePacket(Array("\(line)\n".utf8)[...]) }
        try output.write("0000".utf8)
    }

    /// Writes contents as packets, and a flush packet.
    mutating func write(contents: [UInt8]) throws(StatusError) {
        var rest = contents[...]
        while !rest.isEmpty {
            try writePacket(rest.prefix(Self.maximumLength))
            rest = rest.dropFirst(Self.maximumLength)
        }
        try output.write("0000".utf8)
    }

    /// Sends what was written.
    mutating func flush() throws(StatusError) {
        try output.flush()
    }

    private mutating func writePacket(_ contents: ArraySlice<UInt8>) throws(StatusError) {
        let length = String(contents.count + 4, radix: 16)
        try output.write((String(repeating: "0", count: 4 - length.utf8.count) + length).utf8)
        try output.write(contents)
    }
}
