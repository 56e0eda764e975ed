internal import AsyncHTTPClient
public import DocumentModel
public import HearthWire
internal import NIOCore
internal import NIOHTTP1
internal import UTF8Text

extension HearthConnection {
    /// Opens a watch stream: the current state of the target, then every change in commit order.
    ///
    /// - Parameter resume: The token of the frame to resume after; `nil` to start with the current state.
    /// - Throws: An error opening the stream. Later errors are thrown by the sequence.
    public func watch(_ target: WatchTarget, resume: String? = nil) async throws(StatusError) -> WatchFrameSequence {
        let parameters = target.parameters(resume: resume).adding(database: database)
        return try await authorized { authorization throws(StatusError) in
            var request = request(to: "/watch", authorization)
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            request.headers.add(name: "Accept", value: "application/x-ndjson")
            request.body = .bytes(parameters)
            let response = try await stream(request, authorization)
            return WatchFrameSequence(body: response.body, server: server, idToken: authorization.token)
        }
    }
}

/// The frames of a watch stream.
///
/// The sequence ends after an `end` or `error` frame. It throws `.unavailable` if the stream is interrupted, and `.cancelled` if the
/// task is cancelled. It can be iterated once.
public struct WatchFrameSequence: AsyncSequence, Sendable {
    /// A frame.
    public typealias Element = WatchFrame
    /// The error of an interrupted stream.
    public typealias Failure = StatusError

    let body: HTTPClientResponse.Body
    let server: ServerAddress
    /// The ID token with which the stream was opened, if any.
    let idToken: IDToken?

    /// The maximum size of a frame: a document of the maximum size with all characters escaped, and its envelope.
    private static let maximumFrameBytes = 20 << 20

    /// Creates the iterator. Call it once.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(chunks: body.makeAsyncIterator(), lines: LineSplitter(maximumBytes: Self.maximumFrameBytes), server: server)
    }

    /// The iterator over the frames.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var chunks: HTTPClientResponse.Body.AsyncIterator
        private var lines: LineSplitter
        private let server: ServerAddress
        private var isAtEnd = false

        fileprivate init(chunks: HTTPClientResponse.Body.AsyncIterator, lines: LineSplitter, server: ServerAddress) {
            self.chunks = chunks
            self.lines = lines
            self.server = server
        }

        /// Waits for the next frame; returns `nil` after the last one.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(StatusError) -> WatchFrame? {
            guard !isAtEnd else { return nil }
            while true {
                if let line = lines.next() {
                    guard case .complete(let bytes) = line else { throw StatusError.unexpectedResponse(from: server) }
                    let frame = try WatchFrame(bytes, from: server)
                    isAtEnd = frame.kind.isLast
                    return frame
                }
                guard let chunk = try await nextChunk(isolation: actor) else {
                    throw StatusError(.unavailable, "The connection to \(server) was lost.")
                }
                lines.append(chunk.readableBytesView)
            }
        }

        private mutating func nextChunk(isolation actor: isolated (any Actor)?) async throws(StatusError) -> ByteBuffer? {
            do {
                return try await chunks.next(isolation: actor)
            } catch {
                throw StatusError(transport: error, server: server, hasSucceeded: true)
            }
        }
    }
}
