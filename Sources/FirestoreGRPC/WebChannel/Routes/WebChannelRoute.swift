import Concurrency
import DocumentModel
import HTTPTypes
import HearthAPI
import HearthHTTP
import HummingbirdCore
import JSONRPC
import NIOCore
import SwiftProtobuf
import UTF8Text

/// `/google.firestore.v1.Firestore/METHOD/channel`: a stream method over WebChannel, the transport of web clients.
///
/// A handshake opens a channel. Its caller is who the headers in the handshake's form authenticate; later requests are authorized by
/// the unguessable ID of the channel alone, because browsers send some of them without headers.
struct WebChannelRoute<Input: Message, Output: WebChannelResponse>: Sendable {
    private let path: String
    private let method: StreamMethod<Input, Output>
    private let server: GRPCServer
    private let registry: WebChannelRegistry

    /// The maximum length of a message in a handshake without headers, before its caller is authenticated.
    static var maximumUnauthenticatedBytes: Int { 64 << 10 }

    /// Creates the route of a method, and checks its channels from now on.
    init(
        _ name: String,
        _ method: StreamMethod<Input, Output>,
        on server: GRPCServer,
        registry: WebChannelRegistry = WebChannelRegistry()
    ) {
        path = "/\(FirestoreService.name)/\(name)/channel"
        self.method = method
        self.server = server
        self.registry = registry
        server.streams.start { await registry.runChecks() }
    }

    var route: Route {
        var policy = RoutePolicy.api
        // The credentials are in the handshake's form. Cookies are never read.
        policy.access = .open
        // Handshakes are counted once their form has shown the caller, and then the messages.
        policy.countsAsCall = false
        policy.isOpenToEndUsers = true
        policy.sessionCookies = .ignored
        // Browsers send the last request of a page as an image if they have to; it has an effect only with the ID of a channel.
        policy.origins = RoutePolicy.OriginRules(
            crossOrigin: .firestore(methods: "GET, POST"),
            allowsLinks: true,
            forms: .fromBrowsers
        )
        policy.isStream = true
        policy.runsOnEventLoop = false
        policy.body.isStreamed = true
        policy.errorFormat = .webChannel
        return Route(path, policy, [.get: respond(to:in:), .post: respond(to:in:)])
    }

    private func respond(to request: Request, in context: HearthRequestContext) async throws -> Response {
        let parameters = try WebChannelParameters(request)
        if parameters.terminates {
            if let sid = parameters.sid { registry.close(sid) }
            return Response(webChannel: [])
        }
        guard request.method == .post else {
            let channel = try channel(of: parameters)
            return parameters.isLongPoll
                ? try await poll(channel, parameters, on: context.channel.eventLoop)
                : try openBackChannel(of: channel, parameters, in: context)
        }
        guard request.hasMediaType("application/x-www-form-urlencoded") || request.hasMediaType("text/plain") else {
            throw HTTPFailure(
                .unsupportedMediaType,
                .invalidArgument,
                "Expected the header Content-Type: application/x-www-form-urlencoded."
            )
        }
        guard parameters.sid != nil else { return try await open(request, parameters, in: context) }
        let channel = try channel(of: parameters)
        var form = WebChannelForm(of: request, maximumMessageBytes: server.maximumMessageBytes, budget: server.bodyBudget)
        try await receiveMessages(of: &form, in: channel)
        return Response(webChannel: channel.status)
    }

    /// Returns the channel of a request, which also acknowledges arrays.
    private func channel(of parameters: WebChannelParameters) throws(HTTPFailure) -> WebChannel {
        guard let sid = parameters.sid, let channel = registry.channel(sid) else { throw .unknownSID }
        guard channel.acknowledge(parameters.acknowledgedID) else {
            throw HTTPFailure(
                .badRequest,
                .invalidArgument,
                "AID=\(parameters.acknowledgedID) acknowledges an array that was not sent."
            )
        }
        return channel
    }

    // MARK: - Handshake

    /// Opens a channel. It is opened even if the call is refused, because clients get the reason only through a channel.
    ///
    /// The caller is authenticated before more of the form is read than its header block, or its first message if it has none.
    private func open(
        _ request: Request,
        _ parameters: WebChannelParameters,
        in context: HearthRequestContext
    ) async throws -> Response {
        var form = WebChannelForm(
            of: request,
            maximumMessageBytes: Self.maximumUnauthenticatedBytes,
            budget: server.bodyBudget
        )
        var item = try await form.next()
        var headers = parameters.headers.map { Array($0.utf8) } ?? []
        if case .headers(let block) = item {
            headers += [UInt8(ascii: "\n")] + block
            item = nil
        }
        let channel = WebChannel(now: registry.now)
        let handshake = Response(webChannel: WebChannelChunk.handshake(sid: channel.sid.string))
        do {
            try await start(channel, for: WebChannelHeaderBlock(headers), in: context)
        } catch let failure as HTTPFailure {
            refuse(channel, GRPCStatus(failure))
            return handshake
        } catch let error as StatusError {
            refuse(channel, GRPCStatus(error))
            return handshake
        }
        form.maximumMessageBytes = server.maximumMessageBytes
        do {
            try await receiveMessages(of: &form, startingWith: item, in: channel)
        } catch {
            // The client is gone, and never gets the ID of the channel.
            registry.close(channel.sid)
            throw error
        }
        return handshake
    }

    /// Authenticates the caller, and starts the stream.
    private func start(
        _ channel: WebChannel,
        for headers: WebChannelHeaderBlock,
        in context: HearthRequestContext
    ) async throws {
        var context = context
        try server.callRates.admitClient(of: context)
        try await server.authenticator.authenticate(headers.authorization, in: &context)
        try server.callRates.admitCaller(of: context)
        let service = server.context.withCaller(context.caller)
        try service.authorize(method.requiredPermission)
        let slot = try server.streams.acquireSlot(for: context)
        let stream = WebChannelStream(method: method, server: server) { [callRates = server.callRates, context] in
            callRates.delayOfMessage(in: context)
        }
        registry.add(channel)
        server.streams.start { [registry, eventLoop = context.channel.eventLoop] in
            await stream.run(on: channel, in: service, eventLoop: eventLoop)
            registry.recordEnd(of: channel)
            withExtendedLifetime(slot) {}
        }
    }

    private func refuse(_ channel: WebChannel, _ status: GRPCStatus) {
        channel.finish(with: status.webChannelArray)
        registry.addRefused(channel)
    }

    // MARK: - Messages

    /// Receives the messages of a form.
    ///
    /// - Parameter item: An item of the form that has already been read.
    private func receiveMessages(
        of form: inout WebChannelForm,
        startingWith item: WebChannelForm.Item? = nil,
        in channel: WebChannel
    ) async throws {
        do {
            var next = item
            if next == nil { next = try await form.next() }
            while let item = next {
                if case .message(let message, let id) = item, try await !channel.receive(message, id: id) {
                    throw HTTPFailure(
                        .tooManyRequests,
                        .resourceExhausted,
                        "Too many messages of the channel wait for one that is missing."
                    )
                }
                next = try await form.next()
            }
        } catch let failure as HTTPFailure {
            // Clients give a channel up after any error.
            registry.close(channel.sid)
            throw failure
        }
    }

    // MARK: - Back channel

    /// Opens a back channel that streams, for as long as the client reads it.
    private func openBackChannel(
        of channel: WebChannel,
        _ parameters: WebChannelParameters,
        in context: HearthRequestContext
    ) throws -> Response {
        guard parameters.opensBackChannel, let id = channel.attach(after: parameters.acknowledgedID, longPoll: nil)
        else { throw HTTPFailure.unknownSID }
        context.channel.closeFuture.whenComplete { [weak channel] _ in channel?.detach(id) }
        var headers = HTTPFields.webChannel
        // The connection serves no more requests: anything received later only shows that the client disconnected.
        headers[.connection] = "close"
        return Response(
            status: .ok,
            headers: headers,
            body: ResponseBody { [eventLoop = context.channel.eventLoop] writer in
                while let chunk = try await channel.nextChunk(of: id) { try await writer.write(chunk, on: eventLoop) }
                try await writer.finish(nil)
            }
        )
    }

    /// Opens a back channel whose response is complete with the first arrays.
    private func poll(
        _ channel: WebChannel,
        _ parameters: WebChannelParameters,
        on eventLoop: any EventLoop
    ) async throws -> Response {
        let timeout = parameters.timeout ?? WebChannelState.maximumSilence
        guard parameters.opensBackChannel,
            let id = channel.attach(after: parameters.acknowledgedID, longPoll: timeout)
        else { throw HTTPFailure.unknownSID }
        var body: [UInt8] = []
        while let chunk = try await channel.nextChunk(of: id) { body += chunk }
        // A poll that was replaced by another one has no bytes: if its client still waits for it, it tries again.
        guard !body.isEmpty || registry.channel(channel.sid) != nil else { throw HTTPFailure.unknownSID }
        let reservation = MemoryBudget.Reservation(of: server.responseBudget)
        // If the poll failed, its arrays would be lost with the channel.
        reservation.resizeRegardlessOfLimit(to: body.count)
        return Response(
            status: .ok,
            headers: .webChannel,
            body: ResponseBody(contentLength: body.count) { [eventLoop, body] writer in
                defer { withExtendedLifetime(reservation) {} }
                try await writer.write(body, on: eventLoop)
                try await writer.finish(nil)
            }
        )
    }
}

extension Response {
    /// Creates a complete response.
    fileprivate init(webChannel body: [UInt8]) {
        self.init(status: .ok, headers: .webChannel, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}

extension HTTPFields {
    /// The headers of every response. Proxies must pass its parts on as they are and at once.
    fileprivate static let webChannel: HTTPFields = [
        .contentType: "text/plain; charset=utf-8",
        .cacheControl: "no-store, no-transform",
        .xAccelBuffering: "no",
        // Beacons, by which pages of other origins end their channels, are not requests of CORS.
        .crossOriginResourcePolicy: "cross-origin",
    ]
}

extension HTTPFailure {
    /// The failure that makes a client begin a new channel. It looks for these words, but not at the start of the body.
    fileprivate static var unknownSID: HTTPFailure {
        HTTPFailure(.badRequest, .notFound, "Unknown SID")
    }
}

extension ErrorFormat {
    /// Text: `Error 400: Unknown SID`.
    fileprivate static let webChannel = ErrorFormat(makeResponse: { failure, _ in
        let text = "Error \(failure.status.code): \(failure.error.message)"
        var response = Response(webChannel: Array(text.utf8))
        response.status = failure.status
        response.headers.append(contentsOf: failure.headers)
        return response
    })
}
