package import Concurrency
import StrictJSON
package import UTF8Text

/// An error that a method did not declare. The client receives only its ID.
package struct UnexpectedError: Sendable {
    package let errorID: String
    package let method: UTF8Key
    package let error: any Error

    /// Returns a random ID that links a client's error to its log entry: 16 hexadecimal digits.
    package static func newErrorID() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

/// A JSON-RPC 2.0 dispatcher over a table of methods.
///
/// The requests of a batch are executed sequentially, so that each call sees the effects of those before it; a batch is not a
/// transaction. No work outlives ``handle(_:context:on:)``: it waits for cancelled calls to end.
package struct RPCServer<Context: RPCContext>: Sendable {
    package let methods: MethodTable<Context>
    package let limits: RPCLimits
    private let responseBudget: MemoryBudget
    private let deadlines: CallDeadlines
    private let onUnexpectedError: @Sendable (UnexpectedError) -> Void
    private let onStart: (@Sendable (_ method: Int?) -> Void)?
    private let onEnd: @Sendable (EndedCall) -> Void
    private let onRefusal: @Sendable () -> Void

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - responseBudget: The memory limit for all responses.
    ///   - clock: The clock that measures the duration of calls.
    ///   - onStart: Called before a call is executed, with the index of its method; `nil` for one that does not exist. Must not wait.
    ///   - onEnd: Records a call for statistics. Must not wait.
    ///   - onRefusal: Records a call that is refused because it has waited too long.
    ///   - onUnexpectedError: Logs an error.
    package init(
        methods: MethodTable<Context>,
        limits: RPCLimits = RPCLimits(),
        responseBudget: MemoryBudget = .unlimited,
        clock: some Clock<Duration> = ContinuousClock(),
        onStart: (@Sendable (_ method: Int?) -> Void)? = nil,
        onEnd: @escaping @Sendable (EndedCall) -> Void = { _ in },
        onRefusal: @escaping @Sendable () -> Void = {},
        onUnexpectedError: @escaping @Sendable (UnexpectedError) -> Void
    ) {
        self.methods = methods
        self.limits = limits
        self.responseBudget = responseBudget
        deadlines = CallDeadlines(timeout: limits.callTimeout, queueTime: limits.queueTime, clock: clock, onRefusal: onRefusal)
        self.onStart = onStart
        self.onEnd = onEnd
        self.onRefusal = onRefusal
        self.onUnexpectedError = onUnexpectedError
    }

    /// Executes the request or batch in a body and returns the reply.
    ///
    /// When the surrounding task is cancelled, the running call is cancelled; it and the calls not yet started are answered with
    /// ``RPCErrorCode/cancelled``.
    ///
    /// - Parameters:
    ///   - executor: The executor for the calls, preferably the one that this method runs on.
    ///   - waiting: The time since the body was received.
    ///   - onBatch: Called with the number of calls of a batch before they are executed; returns the error for which they are refused.
    package func handle(
        _ body: [UInt8],
        context: Context,
        on executor: (any TaskExecutor)? = nil,
        waiting: Stopwatch = Stopwatch(),
        onBatch: @Sendable (_ count: Int) -> RPCError? = { _ in nil }
    ) async -> RPCReply {
        if let queueTime = limits.queueTime, .nanoseconds(waiting.nanoseconds) > queueTime {
            onRefusal()
            return .rejected(RPCError(refusing: .queueTime))
        }
        let text: JSONText
        do {
            text = try JSONText(body, limits: limits.json)
        } catch {
            return errorReply(.parseError(error))
        }
        guard let requests = text.root.elements else {
            return await execute([text.root], isBatch: false, context: context, on: executor)
        }
        if let error = batchError(count: text.root.count) {
            return errorReply(error)
        }
        if let error = onBatch(text.root.count) { return .refused(error) }
        return await execute(requests, isBatch: true, context: context, on: executor)
    }

    /// Executes requests in order.
    private func execute(
        _ requests: some Sequence<JSONNode>,
        isBatch: Bool,
        context: Context,
        on executor: (any TaskExecutor)?
    ) async -> RPCReply {
        let reservation = MemoryBudget.Reservation(of: responseBudget)
        var builder = ResponseBuilder(
            for: requests,
            isBatch: isBatch,
            limit: limits.maximumResponseBytes,
            reservation: reservation
        )
        guard await builder.reserveErrorBytes() else { return builder.finish() }
        let deadline = isBatch ? deadlines.batchDeadline() : nil
        for request in requests {
            await execute(request, batchDeadline: deadline, context: context, on: executor, appendingTo: &builder)
        }
        return builder.finish()
    }

    /// Returns the reply to a body that is rejected without executing any request.
    private func errorReply(_ error: RPCError) -> RPCReply {
        var builder = ResponseBuilder(
            for: [],
            isBatch: false,
            limit: limits.maximumResponseBytes,
            reservation: MemoryBudget.Reservation(of: responseBudget)
        )
        builder.append(.error(error), id: nil)
        return builder.finish()
    }

    private func batchError(count: Int) -> RPCError? {
        if count == 0 {
            return .invalidRequest("the batch is empty")
        }
        if count > limits.maximumBatchCount {
            return .invalidRequest(
                "the batch has too many requests; none was executed",
                data: ["limit": .integer(limits.maximumBatchCount), "got": .integer(count)]
            )
        }
        return nil
    }

    /// Executes one request and appends its response, if it has one.
    private func execute(
        _ node: JSONNode,
        batchDeadline: Duration?,
        context: Context,
        on executor: (any TaskExecutor)?,
        appendingTo builder: inout ResponseBuilder
    ) async {
        let request: RPCRequest
        do {
            request = try RPCRequest(node)
        } catch {
            return builder.append(.error(error.error), id: error.id)
        }
        guard let entry = methods[request.method] else {
            onStart?(nil)
            onEnd(EndedCall(method: nil, error: .methodNotFound, time: nil))
            if let id = request.id { builder.append(.error(.methodNotFound(request.method)), id: id) }
            return
        }
        guard let id = request.id else {
            guard await builder.reserve(entry.expectedResponseBytes) else { return }
            _ = await call(entry, request, batchDeadline: batchDeadline, context: context, on: executor)
            return builder.finishCall()
        }
        if let error = await builder.prepareCall(expectedBytes: entry.expectedResponseBytes) {
            onEnd(EndedCall(method: entry.index, error: error.code, time: nil))
            return builder.append(.error(error), id: id)
        }
        guard batchDeadline == nil, entry.expectedResponseBytes > RPCResponseBody.maximumInlineBytes else {
            let outcome = await call(entry, request, batchDeadline: batchDeadline, context: context, on: executor)
            return builder.append(outcome, id: id, isExecuted: true)
        }
        await withTaskExecutorPreference(globalConcurrentExecutor) {
            let outcome = await call(entry, request, batchDeadline: nil, context: context, on: nil)
            builder.append(outcome, id: id, isExecuted: true)
        }
    }

    /// Executes a call, and records it.
    private func call(
        _ entry: MethodTable<Context>.Entry,
        _ request: RPCRequest,
        batchDeadline: Duration?,
        context: Context,
        on executor: (any TaskExecutor)?
    ) async -> RPCOutcome {
        guard !Task.isCancelled else {
            onEnd(EndedCall(method: entry.index, error: .cancelled, time: nil))
            return .error(.cancelled)
        }
        let time = Stopwatch()
        onStart?(entry.index)
        do {
            if let batchDeadline { try deadlines.checkBatchDeadline(batchDeadline) }
            let result = try await deadlines.run(on: executor) { try await entry.call(request.params, context) }
            onEnd(EndedCall(method: entry.index, error: nil, time: time))
            return .result(result)
        } catch {
            let error = clientError(for: error, method: request.method)
            onEnd(EndedCall(method: entry.index, error: error.code, time: time))
            return .error(error.ofRequest(context.requestID))
        }
    }

    /// Maps an error to the one that the client sees. Unexpected errors are logged.
    private func clientError(for error: any Error, method: UTF8Key) -> RPCError {
        if error is CancellationError {
            return .cancelled
        }
        if let known = (error as? any RPCErrorConvertible)?.rpcError, known.code != .internalError {
            return known
        }
        let unexpected = UnexpectedError(errorID: UnexpectedError.newErrorID(), method: method, error: error)
        onUnexpectedError(unexpected)
        return .internalError(id: unexpected.errorID)
    }
}
