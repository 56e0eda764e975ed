internal import AsyncHTTPClient
public import DocumentModel
public import HearthWire
internal import NIOCore
internal import NIOHTTP1
internal import StrictJSON
internal import UTF8Text

extension HearthConnection {
    /// Opens a watch stream: the current state of the target, then every change in commit order.
    ///
    /// - Parameter resume: The token of the frame to resume after; `nil` to start with the current state.
    /// - Throws: An error opening the stream. Later errors are thrown by the sequence.
    public func watch(_ target: WatchTarget, resume: String? = nil) async throws(StatusError) -> WatchFrameSequence {
        try await watch(target, resume: resume, heartbeat: nil)
    }

    /// Opens a watch stream, as ``watch(_:resume:)`` does.
    ///
    /// - Parameter heartbeat: The seconds without frames after which the server sends one; `nil` for its default.
    package func watch(_ target: WatchTarget, resume: String?, heartbeat: Int?) async throws(StatusError) -> WatchFrameSequence {
        try await watch(target.parameters(resume: resume, heartbeat: heartbeat))
    }

    /// Opens a watch stream with several targets, which ``updateTargets(ofStream:removing:adding:)`` changes.
    ///
    /// - Parameter heartbeat: The seconds without frames after which the server sends one.
    package func watch(_ targets: [IdentifiedWatchTarget], heartbeat: Int) async throws(StatusError) -> WatchFrameSequence {
        var parameters = JSONWriter()
        parameters.beginObject()
        parameters.member(WatchRequestKeys.targets, targets)
        parameters.member(WatchRequestKeys.heartbeat, heartbeat)
        parameters.endObject()
        return try await watch(parameters.finish())
    }

    /// Changes the targets of an open stream: first removes some, then adds others.
    ///
    /// - Throws: `.notFound` if the stream has ended.
    package func updateTargets(
        ofStream id: String,
        removing removed: [Int32],
        adding added: [IdentifiedWatchTarget]
    ) async throws(StatusError) {
        var calls: [RPCCall] = []
        if !removed.isEmpty {
            calls.append(
                RPCCall("watch.removeTargets") { params in
                    params.member(WatchRequestKeys.stream, id)
                    params.key(WatchRequestKeys.targets)
                    params.beginArray()
                    for id in removed { params.integer(Int64(id)) }
                    params.endArray()
                }
            )
        }
        if !added.isEmpty {
            calls.append(
                RPCCall("watch.addTargets") { params in
                    params.member(WatchRequestKeys.stream, id)
                    params.member(WatchRequestKeys.targets, added)
                }
            )
        }
        for result in try await call(calls) { _ = try result.get() }
    }

    private func watch(_ targetParameters: [UInt8]) async throws(StatusError) -> WatchFrameSequence {
        let parameters = targetParameters.adding(database: database)
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
    package let idToken: IDToken?

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
