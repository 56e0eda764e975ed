import Concurrency
import DocumentModel
import FirestoreAPI
import FirestoreMessages
import HTTPTypes
import HearthAPI
import HearthHTTP
import HummingbirdCore
import JSONRPC
import NIOCore

/// `/v1/projects/…/documents…`: the Firestore REST API, under the same limits as RPC calls.
struct FirestoreRoute: Sendable {
    private let context: ServiceContext
    private let responseBudget: MemoryBudget
    private let bodyExecutor: LargeBodyExecutor
    private let deadlines: CallDeadlines
    private let metrics: CallMetrics
    private let isTraced: Bool

    init(_ context: ServiceContext, _ server: ServerResources) {
        self.context = context
        self.responseBudget = server.responseBudget
        self.bodyExecutor = server.bodyExecutor
        isTraced = server.isTraced
        metrics = CallMetrics(
            context.server.metrics.registry,
            prefix: "hearth_rest",
            api: "Firestore REST",
            methods: FirestoreCall.methodNames
        )
        deadlines = CallDeadlines(
            timeout: context.server.limits.callTimeout,
            queueTime: context.server.limits.queueTime,
            onRefusal: context.server.metrics.store.queues.recordRefusal
        )
    }

    func respond(to request: Request, in requestContext: HearthRequestContext) async throws -> Response {
        let call = try request.firestoreCall()
        if isTraced { metrics.begin(call.methodName) }
        var time: Stopwatch?
        do {
            let response = try await respond(to: request, in: requestContext, call, time: &time)
            metrics.record(call.methodName, nil, time: time)
            return response
        } catch {
            // An unexpected error becomes an internal one.
            let code = HTTPFailure(for: error, in: requestContext)?.error.statusCode ?? .internal
            metrics.record(call.methodName, code, time: time)
            throw error
        }
    }

    /// - Parameter time: Set when the execution of the call begins.
    private func respond(
        to request: Request,
        in requestContext: HearthRequestContext,
        _ call: FirestoreCall,
        time: inout Stopwatch?
    ) async throws -> Response {
        let body =
            call.acceptsBody
            ? try await request.jsonBody(by: requestContext.route.policy.body) : []
        let waiting = Stopwatch()
        let reservation = MemoryBudget.Reservation(of: responseBudget)
        guard await reservation.reserve(call.expectedResponseBytes) else {
            throw HTTPFailure.responseMemoryExhausted(isExecuted: false)
        }
        time = waiting
        let context = context.withCaller(requestContext.caller)
        // Long responses are not encoded on the event loop.
        let executor = call.expectedResponseBytes > RPCResponseBody.maximumInlineBytes ? nil : requestContext.executor
        let result: Result<FirestoreResponse, any Error> = await bodyExecutor.run(
            bodyBytes: body.count,
            on: executor
        ) { [deadlines] executor in
            do {
                let response = try await deadlines.run(on: executor, waiting: waiting) {
                    try await call.respond(to: body, in: context.inDatabase(call.database.id))
                }
                return .success(response)
            } catch {
                return .failure(error)
            }
        }
        do {
            return try Response(
                try result.get(),
                isOfWrite: call.isWrite,
                within: reservation,
                on: requestContext.channel.eventLoop
            )
        } catch let error as StatusError where error.code != .internal {
            throw HTTPFailure(firestore: error)
        }
    }
}

extension CallMetrics {
    /// Records in the trace of the request that a call of a method begins.
    fileprivate func begin(_ method: String) {
        begin(method: FirestoreCall.methodNames.firstIndex(of: method), system: "firestore_rest")
    }

    /// Records a call of a method that has ended.
    ///
    /// - Parameters:
    ///   - code: The code of its error; `nil` if it succeeded.
    ///   - time: The time since its execution began; `nil` if it was not executed.
    fileprivate func record(_ method: String, _ code: StatusCode?, time: Stopwatch?) {
        record(method: FirestoreCall.methodNames.firstIndex(of: method), status: code?.rawValue ?? 0, duration: time)
    }
}

extension Request {
    /// Parses the request as a Firestore call.
    fileprivate func firestoreCall() throws(HTTPFailure) -> FirestoreCall {
        do throws(StatusError) {
            let method: FirestoreCall.HTTPMethod =
                switch self.method {
                case .post: .post
                case .patch: .patch
                case .delete: .delete
                default: .get
                }
            return try FirestoreCall(method, path: uri.path.utf8, parameters: QueryString(rawQuery).items)
        } catch {
            throw HTTPFailure(firestore: error)
        }
    }
}
