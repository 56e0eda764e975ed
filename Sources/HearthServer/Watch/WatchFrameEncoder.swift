package import HearthService
import JSONRPC
package import NIOCore
import StrictJSON

/// Writes the frames of `/watch` as the lines of a stream.
///
/// In both formats a line ends with LF and nothing else. JSON escapes CR and LF in strings; the characters besides that many
/// readers take for the end of a line (U+0085, U+2028, U+2029) are escaped here, which JSON allows for any character.
struct WatchFrameEncoder: WatchEncoder {
    let format: WatchFormat

    var commonFormat: WatchFormat? { format }

    /// The media type of the stream.
    var contentType: String {
        switch format {
        case .ndjson: "application/x-ndjson"
        case .sse: "text/event-stream"
        }
    }

    /// Appends the bytes of a frame.
    @inline(never)
    func write(_ frame: WatchFrame, to buffer: inout ByteBuffer) {
        var json = JSONWriter(reservingCapacity: 256)
        frame.write(to: &json)
        write(json.finish(), type: frame.type, token: frame.token, to: &buffer)
    }

    /// Appends the bytes of the frame that ends a stream that fails.
    @inline(never)
    func write(_ error: RPCError, to buffer: inout ByteBuffer) {
        var json = JSONWriter()
        WatchFrame.write(error, to: &json)
        write(json.finish(), type: "error", token: nil, to: &buffer)
    }

    private func write(_ json: [UInt8], type: String, token: WatchToken?, to buffer: inout ByteBuffer) {
        switch format {
        case .ndjson:
            buffer.writeLineSafe(json)
            buffer.writeStaticString("\n")
        case .sse:
            buffer.writeEvent(type, json, id: token)
        }
    }
}

extension ByteBuffer {
    /// Appends an event of Server-Sent Events.
    ///
    /// - Parameter token: What a browser that reconnects shows as the last it has seen.
    package mutating func writeEvent(_ type: String, _ json: [UInt8], id token: WatchToken?) {
        writeStaticString("event: ")
        writeString(type)
        writeStaticString("\ndata: ")
        writeLineSafe(json)
        if let token {
            writeStaticString("\nid: ")
            writeString(token.text)
        }
        writeStaticString("\n\n")
    }

    /// Appends JSON, with the characters escaped that some take for the end of a line. They stand in strings only.
    mutating func writeLineSafe(_ json: [UInt8]) {
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

    /// What stands for the character at an index, and how many bytes the character has. Every byte is looked at, so nothing is
    /// allocated or called here.
    private static func escape(at index: Int, of json: [UInt8]) -> (text: StaticString, length: Int)? {
        switch json[index] {
        // In UTF-8 there is a byte behind this one.
        case 0xc2 where json[index + 1] == 0x85: ("\\u0085", 2)
        // And two behind this one.
        case 0xe2 where json[index + 1] == 0x80 && json[index + 2] == 0xa8: ("\\u2028", 3)
        case 0xe2 where json[index + 1] == 0x80 && json[index + 2] == 0xa9: ("\\u2029", 3)
        default: nil
        }
    }
}
