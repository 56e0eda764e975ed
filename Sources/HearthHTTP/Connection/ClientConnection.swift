import HearthAPI
import NIOCore

/// A connection of a client: what its requests share, over either protocol. Used on its event loop.
final class ClientConnection {
    let channel: any Channel
    let configuration: ConnectionConfiguration
    let responder: ConnectionResponder
    private let executor: EventLoopExecutor
    /// The address at the other end; `nil` for a Unix domain socket.
    let peer: IPAddress?
    /// True for a connection with TLS.
    var isSecure: Bool { configuration.certificate != nil }
    /// The ID token that the connection has sent last.
    let lastIDToken = LastIDToken()
    /// The slot of the connection, or the limit because of which it has none.
    let admission: Result<ConnectionSlots.Slot, ConnectionSlots.LimitReached>
    /// The maximum size of a body that is received completely before its request is passed on.
    let smallBodyBytes: Int
    /// The number of responses in progress.
    private(set) var responseCount = 0
    private var isClosed = false
    private let completion: EventLoopPromise<Void>

    init(
        _ channel: any Channel,
        _ configuration: ConnectionConfiguration,
        _ responder: ConnectionResponder,
        peer: IPAddress?,
        admission: Result<ConnectionSlots.Slot, ConnectionSlots.LimitReached>
    ) {
        self.channel = channel
        self.configuration = configuration
        self.responder = responder
        self.executor = EventLoopExecutor(channel.eventLoop)
        self.peer = peer
        self.admission = admission
        // A body over the limit is rejected before it is sent.
        smallBodyBytes = min(LargeBodyExecutor.inlineBodyBytes, configuration.maximumBodyBytes)
        completion = channel.eventLoop.makePromise()
        channel.closeFuture.assumeIsolated().whenComplete { _ in
            self.isClosed = true
            self.completeIfDone()
        }
    }

    /// The executor of the next request: that of the event loop; `nil`, for Swift's shared threads, once the connection has many
    /// requests in progress. One connection would otherwise keep others of its event loop waiting for all of them.
    var requestExecutor: EventLoopExecutor? { responseCount < Self.maximumInlineRequests ? executor : nil }

    /// The maximum number of requests of a connection that are processed on its event loop.
    private static let maximumInlineRequests = 16

    /// Completed when the connection is closed and its last request has been processed.
    var finished: EventLoopFuture<Void> { completion.futureResult }

    /// Records that a request is being processed.
    func beginResponse() {
        responseCount += 1
    }

    /// Records that a request has been processed.
    func endResponse() {
        responseCount -= 1
        completeIfDone()
    }

    private func completeIfDone() {
        if isClosed, responseCount == 0 { completion.succeed() }
    }
}
