import DocumentModel
import HearthService
import Hummingbird
import JSONRPC
import StrictJSON

/// `GET /watch` and `POST /watch`: the state of a document or a collection and its changes, as a stream that stays open.
///
/// What is wrong with the request is answered with a status of its own, before the stream begins.
struct WatchRoute: Sendable {
    let service: ServiceContext
    let streams: WatchStreams

    private static let maximumBodyBytes = 64 << 10

    func respond(to request: Request, in context: HearthRequestContext) async throws -> Response {
        var parameters = try await request.watchParameters(atMost: Self.maximumBodyBytes)
        let format = parameters.format ?? request.acceptedFormat
        // A browser's EventSource takes any other status than 200 for the end, and would never come back.
        if format == .sse { parameters.request.onExpired = .reset }
        let slot = try streams.takeSlot(for: context)
        var service = service.calling(as: context.caller)
        if let database = parameters.database { service = try await service.inDatabase(named: database) }
        return streams.response(
            with: try await WatchSession(parameters.request, in: service),
            encodedBy: WatchFrameEncoder(format: format),
            of: service,
            in: slot,
            for: context
        )
    }
}

extension Request {
    /// The parameters of a watch, from the query, or from the body of a POST.
    fileprivate func watchParameters(atMost maximumBytes: Int) async throws -> WatchParameters {
        let json: [UInt8]
        if method == .post {
            json = try await jsonBody(atMost: maximumBytes)
        } else {
            let query = (head.path ?? "").utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
            json = try QueryString(query).json(integers: WatchParameters.integers, json: WatchTarget.jsonParameters)
        }
        var parameters: WatchParameters
        do {
            parameters = try WatchParameters(json: JSONText(json).root, at: .params)
        } catch let error as JSONSyntaxError {
            throw HTTPFailure(.badRequest, .invalidArgument, "The parameters can't be read: \(error)")
        }
        if let token = try lastEventID {
            parameters.request.resume = token
        }
        return parameters
    }

    /// What a browser that reconnects says it has seen last. It wins over what its page asked for at first.
    private var lastEventID: WatchToken? {
        get throws(HTTPFailure) {
            guard let text = headers[.lastEventID], !text.utf8.isEmpty else { return nil }
            guard let token = WatchToken(text) else {
                throw HTTPFailure(.badRequest, .invalidArgument, "The header Last-Event-ID is not the token of a frame.")
            }
            return token
        }
    }

    fileprivate var acceptedFormat: WatchFormat { acceptsEvents ? .sse : .ndjson }
}
