import HTTPTypes
import NIOCore

/// A part of a response, as passed to the channel handler of its protocol.
enum ResponsePart: Sendable {
    case head(HTTPResponse)
    case body(ByteBuffer)
    /// The end of the response, with its trailers.
    case end(HTTPFields?)

    var bodyByteCount: Int {
        if case .body(let data) = self { data.readableBytes } else { 0 }
    }
}
