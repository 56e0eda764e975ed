package import HTTPTypes
package import HummingbirdCore
package import JSONRPC
package import NIOCore

extension Response {
    /// Creates a JSON response. The content type has no charset: JSON defines none, and clients compare the whole header.
    package init(json: [UInt8], status: HTTPResponse.Status = .ok) {
        self.init(
            status: status,
            headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json))
        )
    }

    /// Creates the response to RPC calls. A large body is written as fast as the client reads it, releasing its memory
    /// reservation progressively.
    ///
    /// - Parameter eventLoop: The event loop of the connection.
    package init(_ body: RPCResponseBody, on eventLoop: any EventLoop) {
        guard body.byteCount > RPCResponseBody.smallResponseBytes else {
            self.init(json: body.joined())
            return
        }
        self.init(
            status: .ok,
            headers: [.contentType: "application/json"],
            body: ResponseBody(contentLength: body.byteCount) { writer in
                while let chunk = body.next() { try await writer.write(chunk, on: eventLoop) }
                try await writer.finish(nil)
            }
        )
    }
}
