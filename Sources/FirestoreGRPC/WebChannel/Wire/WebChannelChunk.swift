/// A chunk of a WebChannel response: its length in UTF-16 code units, a line feed, and JSON.
enum WebChannelChunk {
    /// Returns the chunk that contains a JSON text.
    static func make(_ json: [UInt8]) -> [UInt8] {
        var chunk = Array(String(utf16Count(of: json)).utf8)
        chunk.append(UInt8(ascii: "\n"))
        chunk += json
        return chunk
    }

    /// Returns the response to a handshake: the ID of the channel, the versions of the protocol and the server, and the longest
    /// silence of the back channel in milliseconds. The line feed at the end counts, as in Firestore's responses.
    static func handshake(sid: String) -> [UInt8] {
        make(Array(#"[[0,["c","\#(sid)","",8,14,30000]]]"#.utf8) + [UInt8(ascii: "\n")])
    }

    /// Returns the response to messages of the client.
    ///
    /// - Parameters:
    ///   - isAttached: Whether there is a back channel.
    ///   - lastID: The last array of the channel.
    ///   - unacknowledgedBytes: The size of the arrays that the client has not acknowledged.
    static func status(isAttached: Bool, lastID: Int, unacknowledgedBytes: Int) -> [UInt8] {
        make(Array("[\(isAttached ? 1 : 0),\(lastID),\(unacknowledgedBytes)]".utf8))
    }

    /// Returns the length of well-formed UTF-8 in UTF-16.
    private static func utf16Count(of text: [UInt8]) -> Int {
        // Every character has one byte that doesn't continue another; those with four bytes are surrogate pairs.
        text.reduce(0) { count, byte in count + (byte & 0xC0 == 0x80 ? 0 : byte >= 0xF0 ? 2 : 1) }
    }
}
