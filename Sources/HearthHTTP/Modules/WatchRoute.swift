import DocumentModel
import HTTPTypes
import HearthAPI
import HummingbirdCore
import JSONRPC
import StrictJSON

/// `GET /watch` and `POST /watch`: a stream of the state of a document, collection or query and its changes.
///
/// Errors in the request are returned with their own status, before the stream starts.
struct WatchRoute: Sendable {
    let service: ServiceContext
    let streams: WatchStreamService

    var policy: RoutePolicy {
        var policy = RoutePolicy.api
        policy.isOpenToEndUsers = true
        policy.isStream = true
        policy.runsOnEventLoop = false
        // As many targets as a stream may have.
        policy.body.maximumBytes = 4 << 20
        return policy
    }

    func respond(to request: Request, in context: HearthRequestContext) async throws -> Response {
        let parameters = try await request.watchParameters(by: context.route.policy.body)
        let slot = try streams.acquireSlot(for: context)
        var service = service.withCaller(context.caller)
        if let database = parameters.database { service = try await service.inDatabase(named: database) }
        switch parameters.request {
        case .target(var watch):
            if let token = try request.lastEventID { watch.resume = token }
            let format = parameters.format ?? request.acceptedFormat
            // A browser's EventSource treats any status other than 200 as fatal and does not reconnect.
            if format == .sse { watch.onExpired = .reset }
            return streams.response(
                with: try await WatchSession(watch, in: service),
                encodedBy: WatchFrameEncoder(format: format),
                of: service,
                in: slot,
                for: context
            )
        case .targets(let watch):
            try service.authorize(.readDocuments)
            return streams.response(watching: watch, of: service, in: slot, for: context)
        }
    }
}

extension Request {
    /// Decodes the parameters from the query, or from the body of a POST.
    fileprivate func watchParameters(by rules: RoutePolicy.BodyRules) async throws -> WatchParameters {
        let json: [UInt8]
        if method == .post {
            json = try await jsonBody(by: rules)
        } else {
            json = try QueryString(rawQuery).json(integers: WatchParameters.integers, json: WatchParameters.json)
        }
        do {
            return try WatchParameters(json: JSONText(json).root, at: .params)
        } catch let error as JSONSyntaxError {
            throw HTTPFailure(.badRequest, .invalidArgument, "The parameters are not valid JSON: \(error)")
        }
    }

    /// The resume token of a reconnecting browser. It takes precedence over the `resume` parameter of the original request.
    fileprivate var lastEventID: ResumeToken? {
        get throws(HTTPFailure) {
            guard let text = headers[.lastEventID], !text.utf8.isEmpty else { return nil }
            guard let token = ResumeToken(text) else {
                throw HTTPFailure(.badRequest, .invalidArgument, "The header Last-Event-ID is not a valid resume token.")
            }
            return token
        }
    }

    fileprivate var acceptedFormat: WatchFormat { acceptsServerSentEvents ? .sse : .ndjson }
}
