import HearthService
import JSONRPC
import NIOCore

/// Writes frames as the lines of a stream.
///
/// In both formats a line ends with LF and nothing else. JSON escapes CR and LF in strings; the characters besides that many
/// readers take for the end of a line (U+0085, U+2028, U+2029) are escaped here, which JSON allows for any character.
struct WatchFrameEncoder {
    let format: WatchFormat

    /// The media type of the stream.
    var contentType: String {
        switch format {
        case .ndjson: "application/x-ndjson"
        case .sse: "text/event-stream"
        }
    }

    /// The bytes of frames that are sent together.
    func encode(_ frames: [WatchFrame]) -> ByteBuffer {
        var buffer = ByteBuffer()
        for frame in frames {
            write(frame.json(), type: frame.type, token: frame.token, to: &buffer)
        }
        return buffer
    }

    /// The bytes of the frame that ends a stream that fails.
    func encode(_ error: RPCError) -> ByteBuffer {
        var buffer = ByteBuffer()
        write(WatchFrame.errorJSON(error), type: "error", token: nil, to: &buffer)
        return buffer
    }

    private func write(_ json: [UInt8], type: StaticString, token: WatchToken?, to buffer: inout ByteBuffer) {
        switch format {
        case .ndjson:
            buffer.writeLineSafe(json)
            buffer.writeStaticString("\n")
        case .sse:
            buffer.writeStaticString("event: ")
            buffer.writeStaticString(type)
            buffer.writeStaticString("\ndata: ")
            buffer.writeLineSafe(json)
            if let token {
                buffer.writeStaticString("\nid: ")
                buffer.writeString(token.text)
            }
            buffer.writeStaticString("\n\n")
        }
    }
}

extension ByteBuffer {
    /// Appends JSON, with the characters escaped that some take for the end of a line. They stand in strings only.
    mutating func writeLineSafe(_ json: [UInt8]) {
        reserveCapacity(minimumWritableBytes: json.count + 128)
        var start = 0
        var index = 0
        while index < json.count {
            guard json[index] >= 0xc2, let escape = Self.escape(of: json[index...]) else {
                index += 1
                continue
            }
            writeBytes(json[start..<index])
            writeStaticString(escape.text)
            index += escape.length
            start = index
        }
        writeBytes(json[start...])
    }

    private static func escape(of bytes: ArraySlice<UInt8>) -> (text: StaticString, length: Int)? {
        if bytes.starts(with: [0xe2, 0x80, 0xa8]) {
            ("\\u2028", 3)
        } else if bytes.starts(with: [0xe2, 0x80, 0xa9]) {
            ("\\u2029", 3)
        } else if bytes.starts(with: [0xc2, 0x85]) {
            ("\\u0085", 2)
        } else {
            nil
        }
    }
}
