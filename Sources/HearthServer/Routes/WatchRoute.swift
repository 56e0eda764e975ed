import DocumentModel
import HTTPTypes
import HearthService
import Hummingbird
import JSONRPC
import NIOCore
import StrictJSON

/// `GET /watch` and `POST /watch`: the state of a document or a collection and its changes, as a stream that stays open.
///
/// What is wrong with the request is answered with a status of its own, before the stream begins.
struct WatchRoute: Sendable {
    let service: ServiceContext
    let slots: WatchSlots
    private let shared = SharedFrames()
    private let threads = WorkThreads("hearth.watchers", count: System.coreCount)

    private static let maximumBodyBytes = 64 << 10

    func respond(to request: Request, in context: HearthRequestContext) async throws -> Response {
        var parameters = try await request.watchParameters(atMost: Self.maximumBodyBytes)
        let format = parameters.format ?? request.acceptedFormat
        // A browser's EventSource takes any other status than 200 for the end, and would never come back.
        if format == .sse { parameters.request.onExpired = .reset }
        let slot = try takeSlot(for: context)
        var service = service.calling(as: context.caller)
        if let database = parameters.database { service = try await service.inDatabase(named: database) }
        let stream = WatchStream(
            session: try WatchSession(parameters.request, in: service),
            database: service.database,
            caller: context.caller,
            keys: service.keys,
            visit: context.session,
            sessions: service.sessions,
            encoder: WatchFrameEncoder(format: format),
            shared: shared,
            slot: slot,
            threads: threads,
            logger: context.logger
        )
        return Response(
            status: .ok,
            headers: [
                .contentType: stream.encoder.contentType,
                .cacheControl: "no-store",
                .xAccelBuffering: "no",
                .vary: "Accept",
                // The connection is of no other use: what comes after the request only tells that the client left.
                .connection: "close",
            ],
            body: ResponseBody { writer in try await stream.write(to: &writer, on: context.channel) }
        )
    }

    private func takeSlot(for context: HearthRequestContext) throws(HTTPFailure) -> WatchSlots.Slot {
        let network = context.clientNetwork
        do throws(WatchSlots.Refusal) {
            return try slots.take(for: network, key: context.caller.keyID)
        } catch {
            let message =
                switch error {
                case .full:
                    "\(slots.limit) streams are open, as many as this server allows. Try again later."
                case .addressIsFull:
                    "Your address \(network.string) has \(slots.limitPerAddress) streams open, as many as this server allows one address. "
                        + "Close some, or watch a collection instead of its documents."
                case .keyIsFull:
                    "The key has \(slots.limitPerKey) streams open, as many as this server allows one key. Close some, or use keys "
                        + "of their own for other programs."
                }
            throw HTTPFailure(.tooManyRequests, .resourceExhausted, message, headers: [.retryAfter: "5"])
        }
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

    fileprivate var acceptedFormat: WatchFormat {
        let wantsEvents = FieldValue.list(headers[.accept]).contains { $0.isValue("text/event-stream") && !$0.isRefused }
        return wantsEvents ? .sse : .ndjson
    }
}
