import Concurrency
import DocumentModel
import HTTPTypes
import HearthAPI
import HummingbirdCore
import JSONRPC
import Logging
import NIOCore

/// Responds to requests: verifies that they may be processed, calls the handlers of their routes, and gives all errors the form of
/// their routes.
struct RequestResponder: Sendable {
    let policy: RequestPolicy.Current
    let authenticator: Authenticator
    let callRates: CallRateLimiter
    /// The time that a call may wait for its processing to begin; `nil` for no limit.
    let queueTime: Duration?
    let queues: QueueMetrics
    /// The memory budget of request bodies.
    let bodyBudget: MemoryBudget
    /// True for a server that listens on the local machine only, whose name other servers share unless a proxy is in front.
    let isLoopback: Bool
    let metrics: HTTPMetrics
    let activity: ServerActivity
    /// The freshness of responses; `nil` on a server that is no standby.
    let freshness: Freshness?

    /// Responds to a request, which is logged at debug level: method, path without query, status and time to response head. Bodies
    /// are never logged.
    func respond(to request: Request, in context: HearthRequestContext) async -> Response {
        let time = Stopwatch()
        let response = await response(to: request, in: context)
        metrics.record(request, response, in: context, time: time)
        guard context.logger.logLevel <= .debug else { return response }
        context.requestLogger.debug(
            "Request",
            metadata: [
                "http.request.method": "\(request.method)",
                "url.path": "\(request.uri.path)",
                "http.response.status_code": .stringConvertible(response.status.code),
                "duration_ms": .stringConvertible(Double(time.nanoseconds / 1_000) / 1_000),
            ]
        )
        return response
    }

    private func response(to request: Request, in context: HearthRequestContext) async -> Response {
        var context = context
        let policy = policy.value
        let forwardedSecurity = policy.proxies.isSecure(
            behind: context.peer,
            forwardedProto: request.headers[values: .xForwardedProto]
        )
        if let forwardedSecurity { context.isSecure = forwardedSecurity }
        let confirmed = freshness?.standby.confirmed
        var response: Response
        do {
            response = try await process(request, in: context, by: policy)
        } catch {
            let failure = Self.failure(for: error, in: context).ofRequest(context.requestID)
            response = context.route.policy.errorFormat.response(for: failure, to: request)
        }
        Freshness.addAge(to: &response, since: confirmed)
        response.headers.reserveCapacity(response.headers.count + Self.headers.count + 2)
        for field in Self.headers where !response.headers.contains(field.name) {
            response.headers.append(field)
        }
        if context.isSecure, !isLoopback || forwardedSecurity == true && !HostCheck.isLocalhost(request.head.authority) {
            response.headers.append(Self.strictTransportSecurity)
        }
        // Also to errors, so that pages of other origins can read them.
        policy.originCheck.corsPolicy.addHeaders(to: &response, for: request, to: context.route)
        return response
    }

    private func process(_ request: Request, in context: HearthRequestContext, by policy: RequestPolicy) async throws -> Response
    {
        var context = context
        try request.checkTarget()
        try policy.hostCheck.verify(request, in: &context)
        try policy.originCheck.verify(request, to: context.route)
        if let response = policy.originCheck.corsPolicy.preflightResponse(to: request, for: context.route) { return response }
        // Other forwarding headers are not used: proxies must pass the original `Host`.
        if !policy.proxies.isEmpty, let peer = context.client {
            context.forwardedClient = policy.proxies.client(of: peer, forwardedFor: request.headers[values: .xForwardedFor])
        }
        let trace = RequestTrace.current
        trace?.update { [client = context.client] in $0.clientAddress = client?.text }
        let countsAsCall = context.route.policy.countsAsCall
        if countsAsCall {
            try refuseLateCall(in: context)
            try callRates.admitClient(of: context)
        }
        try await authenticator.authenticate(request, in: &context)
        trace?.recordCaller(context.caller)
        if countsAsCall { try callRates.admitCaller(of: context) }
        try request.checkTransferCoding()
        try freshness?.check(request)
        return try await respondToBody(of: request, in: context)
    }

    /// Refuses a call that has waited too long for its event loop or thread.
    private func refuseLateCall(in context: HearthRequestContext) throws(HTTPFailure) {
        guard let queueTime, Duration.nanoseconds(context.waiting.nanoseconds) > queueTime else { return }
        queues.recordRefusal()
        throw HTTPFailure(RPCError(refusing: .queueTime))
    }

    /// Calls the handler of the route. The memory of the body is reserved until there is a response: nothing retains the body
    /// then, however long sending the response takes.
    private func respondToBody(of request: Request, in context: HearthRequestContext) async throws -> Response {
        if context.receivedBodyBytes == 0 || context.route.policy.body.isStreamed {
            return try await context.route.respond(to: request, in: context)
        }
        let reservation = MemoryBudget.Reservation(of: bodyBudget)
        defer { reservation.shrink(to: 0) }
        if let count = context.receivedBodyBytes {
            guard reservation.grow(by: count) else { throw HTTPFailure.bodyMemoryExhausted }
            return try await context.route.respond(to: request, in: context)
        }
        // The files of a form are written to disk as they arrive.
        let fileBufferBytes = context.route.policy.body.fileBufferBytes
        let bufferBytes = fileBufferBytes.flatMap { request.hasMediaType("multipart/form-data") ? $0 : nil } ?? .max
        var request = request
        request.body = RequestBody(
            asyncSequence: MeteredBody(body: request.body, reservation: reservation, bufferBytes: bufferBytes)
        )
        return try await context.route.respond(to: request, in: context)
    }

    /// Maps an error to the failure that the client sees; unexpected errors are logged.
    private static func failure(for error: any Error, in context: HearthRequestContext) -> HTTPFailure {
        HTTPFailure(for: error, in: context) ?? .unexpected(error, "Request failed", logger: context.requestLogger)
    }

    /// The field that makes browsers use TLS only.
    private static let strictTransportSecurity = HTTPField(name: .strictTransportSecurity, value: "max-age=31536000")

    /// The default headers, for every response that doesn't set them itself.
    static let headers: HTTPFields = [
        .xContentTypeOptions: "nosniff",
        .cacheControl: "no-store",
        .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        .referrerPolicy: "same-origin",
        .crossOriginResourcePolicy: "same-origin",
    ]
}

extension Request {
    /// Rejects a target with an unencoded `#`. It would start a fragment, which is never sent (RFC 9112, 3.2); a client that sends
    /// one means it as a part of the path or query, and would get a different resource.
    fileprivate func checkTarget() throws(HTTPFailure) {
        guard head.path?.utf8.contains(UInt8(ascii: "#")) != true else {
            throw HTTPFailure(.badRequest, .invalidArgument, "The request target contains an unencoded #. Write it as %23.")
        }
    }

    /// Rejects transfer codings that would have to be decoded (RFC 9112, 6.1), such as `gzip, chunked`, which the parser treats as
    /// just chunked.
    fileprivate func checkTransferCoding() throws(HTTPFailure) {
        let codings = headers[values: .transferEncoding]
        guard let coding = codings.first else { return }
        guard codings.count == 1, HeaderListElement(coding.utf8).hasOnlyValue("chunked") else {
            throw HTTPFailure(
                .notImplemented,
                .unimplemented,
                "Unsupported Transfer-Encoding; only chunked is supported.",
                headers: [.connection: "close"]
            )
        }
    }
}
