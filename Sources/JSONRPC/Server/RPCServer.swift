package import StrictJSON

/// A failure that a method did not foresee. The client was told no more of it than the id.
package struct UnexpectedFailure: Sendable {
    package let errorID: String
    package let method: UTF8Key
    package let error: any Error

    /// A new name for a failure, by which a client's error and the log's entry are matched: 16 hexadecimal digits.
    package static func newErrorID() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

/// Answers JSON-RPC 2.0 requests from a table of methods.
///
/// The requests of a batch are executed one after the other, in order, so a call sees what the ones before it did; a batch
/// is not a transaction. Nothing outlives ``handle(_:context:)``: calls that are cancelled are waited for.
package struct RPCServer<Context: RPCContext>: Sendable {
    package let methods: MethodTable<Context>
    package let limits: RPCLimits
    private let answers: AnswerBudget
    private let deadlines: CallDeadlines
    private let onUnexpectedFailure: @Sendable (UnexpectedFailure) -> Void

    /// Makes a server.
    ///
    /// - Parameters:
    ///   - answers: The memory for all answers.
    ///   - clock: What the time that a call may take is measured with.
    ///   - onUnexpectedFailure: Puts a failure into the log.
    package init(
        methods: MethodTable<Context>,
        limits: RPCLimits = RPCLimits(),
        answers: AnswerBudget = .unlimited,
        clock: some Clock<Duration> = ContinuousClock(),
        onUnexpectedFailure: @escaping @Sendable (UnexpectedFailure) -> Void
    ) {
        self.methods = methods
        self.limits = limits
        self.answers = answers
        deadlines = CallDeadlines(timeout: limits.callTimeout, clock: clock)
        self.onUnexpectedFailure = onUnexpectedFailure
    }

    /// Executes the request or the batch of requests in a body, and answers it.
    ///
    /// When the surrounding task is cancelled, so is the call that runs; it and those not yet begun are answered with
    /// ``RPCErrorCode/cancelled``.
    ///
    /// - Parameter executor: Where the calls are executed, which is best where this is.
    package func handle(
        _ body: [UInt8],
        context: Context,
        on executor: (any TaskExecutor)? = nil
    ) async -> RPCReply {
        let text: JSONText
        do {
            text = try JSONText(body, limits: limits.json)
        } catch {
            return reply(.parseError(error))
        }
        guard let requests = text.root.elements else {
            return await answer([text.root], isBatch: false, context: context, on: executor)
        }
        if let refusal = refusal(ofBatch: text.root.count) {
            return reply(refusal)
        }
        return await answer(requests, isBatch: true, context: context, on: executor)
    }

    /// Executes requests in order.
    private func answer(
        _ requests: some Sequence<JSONNode>,
        isBatch: Bool,
        context: Context,
        on executor: (any TaskExecutor)?
    ) async -> RPCReply {
        let share = AnswerBudget.Share(of: answers)
        var draft = AnswerDraft(to: requests, isBatch: isBatch, limit: limits.maximumResponseBytes, share: share)
        guard await draft.begin() else { return draft.finish() }
        let end = isBatch ? deadlines.endOfBatch() : nil
        for request in requests { await respond(to: request, until: end, context: context, on: executor, in: &draft) }
        return draft.finish()
    }

    /// The reply to what is not executed at all.
    private func reply(_ error: RPCError) -> RPCReply {
        var draft = AnswerDraft(
            to: [],
            isBatch: false,
            limit: limits.maximumResponseBytes,
            share: AnswerBudget.Share(of: answers)
        )
        draft.add(.error(error), to: nil)
        return draft.finish()
    }

    private func refusal(ofBatch count: Int) -> RPCError? {
        if count == 0 {
            return .invalidRequest("a batch holds at least one request")
        }
        if count > limits.maximumBatchCount {
            return .invalidRequest(
                "the batch holds too many requests; none was executed",
                data: ["limit": .integer(limits.maximumBatchCount), "got": .integer(count)]
            )
        }
        return nil
    }

    /// Executes one request and adds its response, where there is one.
    private func respond(
        to node: JSONNode,
        until end: Duration?,
        context: Context,
        on executor: (any TaskExecutor)?,
        in draft: inout AnswerDraft
    ) async {
        let request: RPCRequest
        do {
            request = try RPCRequest(node)
        } catch {
            return draft.add(.error(error.error), to: error.id)
        }
        guard let entry = methods[request.method] else {
            if let id = request.id { draft.add(.error(.methodNotFound(request.method)), to: id) }
            return
        }
        guard let id = request.id else {
            guard await draft.makeRoom(for: entry.expectedAnswerBytes) else { return }
            _ = await outcome(of: request, entry, until: end, context: context, on: executor)
            return draft.noteExecuted()
        }
        if let error = await draft.prepare(expecting: entry.expectedAnswerBytes) {
            return draft.add(.error(error), to: id)
        }
        draft.add(await outcome(of: request, entry, until: end, context: context, on: executor), to: id, isExecuted: true)
    }

    private func outcome(
        of request: RPCRequest,
        _ entry: MethodTable<Context>.Entry,
        until end: Duration?,
        context: Context,
        on executor: (any TaskExecutor)?
    ) async -> RPCOutcome {
        guard !Task.isCancelled else {
            return .error(.cancelled)
        }
        do {
            if let end { try deadlines.checkIsBefore(end) }
            return .result(try await deadlines.run(on: executor) { try await entry.call(request.params, context) })
        } catch {
            return .error(clientError(for: error, method: request.method))
        }
    }

    /// The error as the client sees it; what it must not see goes to the log.
    private func clientError(for error: any Error, method: UTF8Key) -> RPCError {
        if error is CancellationError {
            return .cancelled
        }
        if let known = (error as? any RPCErrorConvertible)?.rpcError, known.code != .internalError {
            return known
        }
        let failure = UnexpectedFailure(errorID: UnexpectedFailure.newErrorID(), method: method, error: error)
        onUnexpectedFailure(failure)
        return .internalError(id: failure.errorID)
    }
}
