package import HearthAPI
import HearthWire
import JSONRPC
package import NIOCore
import StrictJSON

/// The encoder of `/watch` frames, as newline-delimited JSON or Server-Sent Events.
///
/// In both formats, lines end with LF only. JSON escapes CR and LF in strings; the other characters that many readers treat as line
/// terminators (U+0085, U+2028, U+2029) are escaped here.
struct WatchFrameEncoder: WatchEncoder {
    let format: WatchFormat

    var sharedFormat: WatchFormat? { format }

    /// The media type of the stream.
    var contentType: String {
        switch format {
        case .ndjson: "application/x-ndjson"
        case .sse: "text/event-stream"
        }
    }

    /// Encodes a frame.
    @inline(never)
    func write(_ frame: OutgoingWatchFrame, to buffer: inout ByteBuffer) {
        var json = JSONWriter(reservingCapacity: 256)
        frame.write(to: &json)
        if format == .sse { buffer.writeReconnectionTime(after: frame) }
        write(json.finish(), type: frame.kind.name, token: frame.token, to: &buffer)
    }

    /// Encodes the frame that ends a failed stream.
    @inline(never)
    func write(_ error: RPCError, to buffer: inout ByteBuffer) {
        var json = JSONWriter()
        OutgoingWatchFrame.write(error, to: &json)
        write(json.finish(), type: WatchFrame.Kind.error.name, token: nil, to: &buffer)
    }

    private func write(_ json: [UInt8], type: String, token: ResumeToken?, to buffer: inout ByteBuffer) {
        switch format {
        case .ndjson:
            buffer.writeLine(json)
        case .sse:
            buffer.writeEvent(type, json, id: token)
        }
    }
}

extension ByteBuffer {
    /// Appends a line of newline-delimited JSON.
    mutating func writeLine(_ json: [UInt8]) {
        writeEscapingLineTerminators(json)
        writeStaticString("\n")
    }

    /// Appends a Server-Sent Event.
    ///
    /// - Parameter token: The event ID, which a reconnecting browser sends as `Last-Event-ID`.
    package mutating func writeEvent(_ type: String, _ json: [UInt8], id token: ResumeToken?) {
        writeStaticString("event: ")
        writeString(type)
        writeStaticString("\ndata: ")
        writeEscapingLineTerminators(json)
        if let token {
            writeStaticString("\nid: ")
            writeString(token.text)
        }
        writeStaticString("\n\n")
    }

    /// Appends the `retry` field of the event that ends a stream because the server stops: browsers reconnect after 1 to 5 seconds, not
    /// all of them at the moment at which the next server starts. Nothing for other frames.
    package mutating func writeReconnectionTime(after frame: OutgoingWatchFrame) {
        guard case .end(.shutdown, _) = frame else { return }
        writeString("retry: \(Int.random(in: 1_000...5_000))\n")
    }

    /// Appends JSON, escaping the Unicode line terminators, which occur in strings only.
    mutating func writeEscapingLineTerminators(_ json: [UInt8]) {
        reserveCapacity(minimumWritableBytes: json.count + 128)
        var start = 0
        var index = 0
        while index < json.count {
            guard let (text, length) = Self.escape(at: index, of: json) else {
                index += 1
                continue
            }
            writeBytes(json[start..<index])
            writeStaticString(text)
            index += length
            start = index
        }
        writeBytes(json[start...])
    }

    /// Returns the escape sequence and UTF-8 length of a line terminator at an index. Called for every byte, so it allocates nothing.
    private static func escape(at index: Int, of json: [UInt8]) -> (text: StaticString, length: Int)? {
        switch json[index] {
        // A two-byte sequence.
        case 0xc2 where json[index + 1] == 0x85: ("\\u0085", 2)
        // A three-byte sequence.
        case 0xe2 where json[index + 1] == 0x80 && json[index + 2] == 0xa8: ("\\u2028", 3)
        case 0xe2 where json[index + 1] == 0x80 && json[index + 2] == 0xa9: ("\\u2029", 3)
        default: nil
        }
    }
}
