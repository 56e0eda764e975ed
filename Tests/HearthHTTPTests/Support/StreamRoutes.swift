import HTTPTypes
import HearthHTTP
import HummingbirdCore
import NIOCore
import Synchronization

/// Routes whose handlers read a request and write its response at the same time.
struct StreamRoutes: RouteModule {
    /// The number of requests whose tasks have been cancelled.
    let cancellations = EventCount()
    /// The number of bodies that ended with an error.
    let brokenBodies = EventCount()
    /// The number of requests whose work, which cannot be cancelled, has started, and the number of those that may finish.
    let startedWork = EventCount()
    let finishedWork = EventCount()
    /// The number of requests whose work has started on the event loop of their connection.
    let inlineWork = EventCount()

    func routes(using server: ServerResources) -> [Route] {
        var policy = RoutePolicy.api
        policy.body.isStreamed = true
        policy.runsOnEventLoop = false
        return [
            Route("/test/echo", policy, [.post: echo]),
            Route("/test/early", policy, [.post: respondEarly]),
            Route("/test/wait", policy, [.post: wait, .get: wait]),
            Route("/test/work", policy, [.get: work]),
            Route("/test/inline", .api, [.get: workInline]),
            Route("/test/endless", policy, [.get: writeEndlessly]),
            Route("/test/trailers", policy, [.get: respondWithTrailers, .head: respondWithTrailers]),
            Route("/test/fields", policy, [.get: respondWithConnectionFields]),
        ]
    }

    /// Writes each part of the body as it arrives, and the number of bytes as a trailer.
    private func echo(_ request: Request, in _: HearthRequestContext) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/octet-stream"],
            body: ResponseBody { [brokenBodies] writer in
                var byteCount = 0
                do {
                    for try await part in request.body {
                        byteCount += part.readableBytes
                        try await writer.write(part)
                    }
                } catch {
                    brokenBodies.increment()
                    throw error
                }
                try await writer.finish([.byteCount: String(byteCount)])
            }
        )
    }

    /// Ends the response without reading the body.
    private func respondEarly(_ request: Request, in _: HearthRequestContext) -> Response {
        Response(
            status: .ok,
            body: ResponseBody { writer in
                try await writer.write(ByteBuffer(string: "early"))
                try await writer.finish([.byteCount: "5"])
            }
        )
    }

    /// Never ends, unless the request is cancelled.
    private func wait(_ request: Request, in _: HearthRequestContext) -> Response {
        Response(
            status: .ok,
            body: ResponseBody { [cancellations] _ in
                do {
                    try await Task.sleep(for: .seconds(1_000_000))
                } catch {
                    cancellations.increment()
                    throw error
                }
            }
        )
    }

    /// Works on, even if the request is cancelled.
    private func work(_ request: Request, in _: HearthRequestContext) async -> Response {
        startedWork.increment()
        await finishedWork.wait(for: 1)
        return Response(status: .ok)
    }

    private func workInline(_ request: Request, in context: HearthRequestContext) async -> Response {
        if context.channel.eventLoop.inEventLoop { inlineWork.increment() }
        return await work(request, in: context)
    }

    private func writeEndlessly(_ request: Request, in _: HearthRequestContext) -> Response {
        Response(
            status: .ok,
            body: ResponseBody { writer in
                while true { try await writer.write(ByteBuffer(repeating: UInt8(ascii: "x"), count: 16 << 10)) }
            }
        )
    }

    private func respondWithTrailers(_ request: Request, in _: HearthRequestContext) -> Response {
        Response(
            status: .ok,
            body: ResponseBody { writer in
                try await writer.write(ByteBuffer(string: "body"))
                try await writer.finish([.byteCount: "4"])
            }
        )
    }

    private func respondWithConnectionFields(_ request: Request, in _: HearthRequestContext) -> Response {
        Response(status: .ok, headers: [.connection: "close", .upgrade: "h2c", .eTag: "\"a\""])
    }
}

extension HTTPField.Name {
    /// The number of bytes in a body.
    static let byteCount = HTTPField.Name("byte-count")!
}

/// The number of times that something has happened.
final class EventCount: Sendable {
    private let state = Mutex<(count: Int, waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)])>((0, []))

    var value: Int { state.withLock(\.count) }

    func increment() {
        let reached = state.withLock { state in
            state.count += 1
            let count = state.count
            let reached = state.waiters.filter { $0.count <= count }
            state.waiters.removeAll { $0.count <= count }
            return reached
        }
        for waiter in reached { waiter.continuation.resume() }
    }

    /// Waits until it has happened a number of times.
    func wait(for count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.count < count { state.waiters.append((count, continuation)) }
                return state.count >= count
            }
            if isReached { continuation.resume() }
        }
    }
}
