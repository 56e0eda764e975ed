package import StrictJSON

/// A failure that a method did not foresee. The client was told no more of it than the id.
package struct UnexpectedFailure: Sendable {
    package let errorID: String
    package let method: UTF8Key
    package let error: any Error
}

/// Answers JSON-RPC 2.0 requests from a table of methods.
///
/// The requests of a batch are executed one after the other, in order, so a call sees what the ones before it did; a batch
/// is not a transaction. Nothing outlives ``handle(_:context:)``: calls that are cancelled are waited for.
package struct RPCServer<Context: Sendable>: Sendable {
    package let methods: MethodTable<Context>
    package let limits: RPCLimits
    private let deadlines: CallDeadlines
    private let onUnexpectedFailure: @Sendable (UnexpectedFailure) -> Void

    /// Makes a server.
    ///
    /// - Parameters:
    ///   - clock: What the time that a call may take is measured with.
    ///   - onUnexpectedFailure: Puts a failure into the log.
    package init(
        methods: MethodTable<Context>,
        limits: RPCLimits = RPCLimits(),
        clock: some Clock<Duration> = ContinuousClock(),
        onUnexpectedFailure: @escaping @Sendable (UnexpectedFailure) -> Void
    ) {
        self.methods = methods
        self.limits = limits
        deadlines = CallDeadlines(timeout: limits.callTimeout, clock: clock)
        self.onUnexpectedFailure = onUnexpectedFailure
    }

    /// Executes the request or the batch of requests in a body, and answers it.
    ///
    /// When the surrounding task is cancelled, so is the call that runs; it and those not yet begun are answered with
    /// ``RPCErrorCode/cancelled``.
    package func handle(_ body: [UInt8], context: Context) async -> RPCReply {
        let text: JSONText
        do {
            text = try JSONText(body, limits: limits.json)
        } catch {
            return .response(RPCOutcome.error(.parseError(error)).response(to: nil))
        }
        var budget = limits.maximumResponseBytes
        guard let requests = text.root.elements else {
            return await respond(to: text.root, context: context, budget: &budget).map { .response($0) } ?? .nothing
        }
        if let refusal = refusal(ofBatch: text.root.count) {
            return .response(RPCOutcome.error(refusal).response(to: nil))
        }
        var responses = JSONWriter()
        responses.beginArray()
        var isEmpty = true
        for request in requests {
            if let response = await respond(to: request, context: context, budget: &budget) {
                responses.raw(response)
                isEmpty = false
            }
        }
        responses.endArray()
        return isEmpty ? .nothing : .response(responses.finish())
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

    /// Executes one request and makes its response; `nil` for a notification.
    ///
    /// - Parameter budget: How many bytes of response are left to the whole body.
    private func respond(to node: JSONNode, context: Context, budget: inout Int) async -> [UInt8]? {
        let request: RPCRequest
        do {
            request = try RPCRequest(node)
        } catch {
            let response = RPCOutcome.error(error.error).response(to: error.id)
            budget -= response.count
            return response
        }
        guard let id = request.id else {
            _ = await outcome(of: request, context: context)
            return nil
        }
        guard budget > 0 else {
            return RPCOutcome.error(.responseTooLarge(limit: limits.maximumResponseBytes, isExecuted: false)).response(to: id)
        }
        let outcome = await outcome(of: request, context: context)
        let response = outcome.response(to: id)
        if case .result = outcome, response.count > budget {
            budget = 0
            return RPCOutcome.error(.responseTooLarge(limit: limits.maximumResponseBytes, isExecuted: true)).response(to: id)
        }
        budget -= response.count
        return response
    }

    private func outcome(of request: RPCRequest, context: Context) async -> RPCOutcome {
        guard let entry = methods[request.method] else {
            return .error(.methodNotFound(request.method))
        }
        guard !Task.isCancelled else {
            return .error(.cancelled)
        }
        do {
            return .result(try await deadlines.run { try await entry.call(request.params, context) })
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
        let failure = UnexpectedFailure(errorID: Self.newErrorID(), method: method, error: error)
        onUnexpectedFailure(failure)
        return .internalError(id: failure.errorID)
    }

    private static func newErrorID() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
