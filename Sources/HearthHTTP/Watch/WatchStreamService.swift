package import Concurrency
import DocumentModel
import HTTPTypes
package import HearthAPI
package import HummingbirdCore
import Logging
package import NIOCore
import UTF8Text

/// The watch streams of a server: their limits and shared resources.
package struct WatchStreamService: Sendable {
    let slots: WatchSlots
    private let open = OpenStreamRegistry()
    private let frameCache = EncodedFrameCache()
    private let deliveryQueues = FrameDeliveryQueues()
    private let tasks = StreamTasks()
    private let threads = ThreadPoolExecutor("hearth.watchers", count: System.coreCount)
    private let logger: Logger

    init(slots: WatchSlots, logger: Logger) {
        self.slots = slots
        self.logger = logger
    }

    /// Acquires the slot of a stream.
    ///
    /// - Throws: A 429 failure when a limit is reached.
    package func acquireSlot(for context: HearthRequestContext) throws -> WatchSlots.Slot {
        let client = context.client
        do throws(WatchSlots.LimitReached) {
            // Programs on this machine are limited in total and per key only.
            return try slots.acquire(for: client?.isLoopback == false ? client?.network : nil, key: context.caller.quotaKey)
        } catch {
            let message =
                switch error {
                case .total:
                    "The server has reached its limit of \(slots.limits.total) watch streams. Retry later."
                case .address(let network):
                    "Your address \(network.string) has reached the limit of \(slots.limits.perAddress) watch streams per address. "
                        + "Close some streams, or watch a collection instead of individual documents."
                case .key where context.caller.isEndUser:
                    "You have reached the limit of \(slots.limits.perKey) watch streams per user. Close some streams."
                case .key:
                    "The key has reached the limit of \(slots.limits.perKey) watch streams per key. Close some streams, use "
                        + "separate keys for different programs, or start the server with a higher --watchers-per-key."
                }
            throw HTTPFailure(.tooManyRequests, .resourceExhausted, message, headers: [.retryAfter: "5"])
        }
    }

    /// Ends all streams with an `end` frame.
    func shutDown() {
        open.shutDown()
    }

    /// Runs a task of streams that outlast their requests, until it returns or the server ends.
    package func start(_ body: @escaping StreamTasks.Body) {
        tasks.start(body)
    }

    /// Runs the tasks of streams until the task is cancelled, and waits for them.
    func runTasks() async {
        await tasks.run()
    }

    /// Keeps a stream open while `body` runs. It is ended on shutdown, and when its caller loses access.
    package nonisolated(nonsending) func keepOpen(
        _ stream: any OpenStream,
        for context: ServiceContext,
        _ body: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        let caller = context.caller
        let observation = context.keys.onRevocation(of: caller) { [weak stream] in stream?.end(caller.endOfAccess) }
        defer { withExtendedLifetime(observation) {} }
        open.add(stream)
        defer { open.remove(stream) }
        try await withTaskExecutorPreference(threads, operation: body)
    }

    /// Sends the messages of new commits to a session on an event loop while its task waits.
    ///
    /// Returns when the session has to be continued by ``ListenSession/next(orUntil:keepAlive:)``: for a commit that has to be read,
    /// after an interruption, and once the waiter that is passed to `setWaiter` is resumed.
    ///
    /// - Returns: Messages that could not be sent, which come before the next ones.
    package nonisolated(nonsending) func deliverLive(
        _ session: ListenSession,
        to writer: some LiveMessageWriter,
        on eventLoop: any EventLoop,
        orUntil setWaiter: (Waiter) -> Void
    ) async -> [ListenMessage] {
        let queue = deliveryQueues.queue(of: eventLoop)
        return await withTaskExecutorPreference(queue.executor) {
            var unsent: () -> [ListenMessage] = { [] }
            await session.waitLive(orUntil: setWaiter) { reader in
                let delivery = ListenDelivery(reader, to: writer, in: queue)
                delivery.waitForCommit()
                unsent = { delivery.unsentMessages }
            }
            return unsent()
        }
    }

    /// Returns whether any open stream meets a condition.
    func hasOpenStream(where condition: (any OpenStream) -> Bool) -> Bool { open.contains(where: condition) }

    /// Makes a stream end on shutdown, and when its caller loses access, as long as the result exists.
    func register(_ stream: any OpenStream, for context: ServiceContext) -> StreamRegistration {
        let caller = context.caller
        let observation = context.keys.onRevocation(of: caller) { [weak stream] in stream?.end(caller.endOfAccess) }
        return StreamRegistration(stream, in: open, observation)
    }

    /// Returns a response with a stream as its body.
    ///
    /// - Parameters:
    ///   - service: The service context with the caller and database of the stream.
    ///   - slot: The slot of the stream, held while it is open.
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
            browserSession: context.session,
            sessions: service.sessions,
            openStreams: open,
            encoder: encoder,
            frameCache: frameCache,
            slot: slot,
            deliveryQueues: deliveryQueues,
            threads: threads,
            requestID: context.requestID,
            logger: logger
        )
        return response(encodedAs: encoder.contentType) { [channel = context.channel] writer in
            try await stream.write(to: &writer, on: channel)
        }
    }

    /// Returns a response with a stream of several targets as its body.
    ///
    /// - Parameters:
    ///   - service: The service context with the caller and database of the stream.
    ///   - slot: The slot of the stream, held while it is open.
    func response(
        watching request: MultiTargetWatchRequest,
        of service: ServiceContext,
        in slot: WatchSlots.Slot,
        for context: HearthRequestContext
    ) -> Response {
        let stream = MultiTargetWatchStream(
            request,
            in: service,
            openedBy: context.session,
            among: open,
            in: slot,
            of: self,
            on: threads,
            logger: context.requestLogger
        )
        return response(encodedAs: stream.encoder.contentType) { [channel = context.channel] writer in
            try await stream.write(to: &writer, on: channel)
        }
    }

    private func response(
        encodedAs contentType: String,
        _ write: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void
    ) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: contentType,
                .cacheControl: "no-store",
                .xAccelBuffering: "no",
                .vary: "Accept",
                // The connection serves no more requests: anything received later only shows that the client disconnected.
                .connection: "close",
            ],
            body: ResponseBody(write)
        )
    }
}
