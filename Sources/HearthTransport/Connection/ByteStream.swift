internal import AsyncHTTPClient
package import DocumentModel
internal import NIOCore
internal import NIOHTTP1

extension HearthConnection {
    /// Sends JSON to a path of the server whose response is a stream of bytes, and waits for the beginning of the response.
    ///
    /// - Throws: The server's error, or `.unavailable` if it cannot be reached.
    package func byteStream(at path: String, posting json: [UInt8]) async throws(StatusError) -> ByteStream {
        try await authorized { authorization throws(StatusError) in
            var request = request(to: path, authorization)
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(json)
            return ByteStream(try await stream(request, authorization), from: server)
        }
    }
}

/// The bytes of a response that is a stream.
package struct ByteStream {
    private var chunks: HTTPClientResponse.Body.AsyncIterator
    private let server: ServerAddress

    init(_ response: HTTPClientResponse, from server: ServerAddress) {
        chunks = response.body.makeAsyncIterator()
        self.server = server
    }

    /// Waits for the next bytes; returns `nil` at the end of the stream.
    ///
    /// - Throws: `.unavailable` if the stream is interrupted; `.cancelled` if the task is cancelled.
    package mutating func next() async throws(StatusError) -> [UInt8]? {
        do {
            return try await chunks.next().map { Array($0.readableBytesView) }
        } catch {
            throw StatusError(transport: error, server: server, hasSucceeded: true)
        }
    }
}
