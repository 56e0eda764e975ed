import DocumentModel
import HTTPTypes
package import HearthService
package import Hummingbird
import Logging
import NIOCore
import StrictJSON

/// The streams of those who watch: as many as there is room for, and what they have in common.
package struct WatchStreams: Sendable {
    let slots: WatchSlots
    private let open = OpenStreams()
    private let shared = SharedFrames()
    private let threads = WorkThreads("hearth.watchers", count: System.coreCount)
    private let logger: Logger

    init(slots: WatchSlots, logger: Logger) {
        self.slots = slots
        self.logger = logger
    }

    /// Takes the room of a stream.
    ///
    /// - Throws: The response 429 when there is none, for this client or for any.
    package func takeSlot(for context: HearthRequestContext) throws -> WatchSlots.Slot {
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
                    "The key has \(slots.limitPerKey) streams open, as many as this server allows one key. Close some, use keys of "
                        + "their own for other programs, or have the server started with a higher --watchers-per-key."
                }
            throw HTTPFailure(.tooManyRequests, .resourceExhausted, message, headers: [.retryAfter: "5"])
        }
    }

    /// Ends all streams, with a frame that says why.
    func shutDown() {
        open.shutDown()
    }

    /// The response that a stream is the body of.
    ///
    /// - Parameters:
    ///   - service: Of the caller and the database that the stream was made for.
    ///   - slot: Held for as long as the stream is open.
    package func response(
        with session: WatchSession,
        encodedBy encoder: any WatchEncoder,
        of service: ServiceContext,
        in slot: WatchSlots.Slot,
        for context: HearthRequestContext
    ) -> Response {
        let stream = WatchStream(
            session: session,
            database: service.database,
            caller: service.caller,
            keys: service.keys,
            visit: context.session,
            sessions: service.sessions,
            openStreams: open,
            encoder: encoder,
            shared: shared,
            slot: slot,
            threads: threads,
            requestID: context.requestID,
            logger: logger
        )
        return Response(
            status: .ok,
            headers: [
                .contentType: encoder.contentType,
                .cacheControl: "no-store",
                .xAccelBuffering: "no",
                .vary: "Accept",
                // The connection is of no other use: what comes after the request only tells that the client left.
                .connection: "close",
            ],
            body: ResponseBody { [channel = context.channel] writer in try await stream.write(to: &writer, on: channel) }
        )
    }
}
