internal import AsyncHTTPClient
public import DocumentModel
internal import NIOCore
internal import NIOHTTP1
internal import StrictJSON

extension HearthConnection {
    /// Watches a target from now on: what there is, then every change in the order of the commits.
    ///
    /// - Parameter resume: The token of a frame, to go on after that one; nil to begin with what there is.
    /// - Throws: What keeps the stream from beginning. What ends it later is thrown by the frames.
    public func watch(_ target: WatchTarget, resume: String? = nil) async throws(StatusError) -> WatchFrames {
        var request = request(to: "/watch")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "Accept", value: "application/x-ndjson")
        request.body = .bytes(target.parameters(resume: resume).adding(database: database))
        return WatchFrames(body: try await stream(request).body, server: server)
    }
}

/// The frames of a watch stream, as they arrive.
///
/// The sequence ends after an `end` or `error` frame. A stream that breaks off without one throws `.unavailable`, a cancelled
/// task `.cancelled`. It can be gone through once.
public struct WatchFrames: AsyncSequence, Sendable {
    /// A frame.
    public typealias Element = WatchFrame
    /// What ends a stream early.
    public typealias Failure = StatusError

    let body: HTTPClientResponse.Body
    let server: ServerAddress

    /// The longest frame that is read: a document of the largest size, all of it escaped, and what is around it.
    private static let maximumFrameBytes = 20 << 20

    /// Begins to read.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(chunks: body.makeAsyncIterator(), lines: LineSplitter(maximumBytes: Self.maximumFrameBytes), server: server)
    }

    /// Reads the frames one by one.
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

        /// Waits for the next frame; nil after the last one.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(StatusError) -> WatchFrame? {
            guard !isAtEnd else { return nil }
            while true {
                if let line = lines.next() {
                    guard case .complete(let bytes) = line else { throw StatusError.foreignAnswer(from: server) }
                    let frame = try WatchFrame(bytes, from: server)
                    isAtEnd = frame.kind.isLast
                    return frame
                }
                guard let chunk = try await nextChunk(isolation: actor) else {
                    throw StatusError(.unavailable, "\(server) broke the stream off.")
                }
                lines.append(chunk.readableBytesView)
            }
        }

        private mutating func nextChunk(isolation actor: isolated (any Actor)?) async throws(StatusError) -> ByteBuffer? {
            do {
                return try await chunks.next(isolation: actor)
            } catch {
                throw StatusError(transport: error, server: server)
            }
        }
    }
}
