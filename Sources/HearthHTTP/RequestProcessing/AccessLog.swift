import Concurrency
import HTTPTypes
import HearthAPI
import HummingbirdCore
import Logging

/// The log of requests: one entry at the end of each, and entries for slow ones. It ends the spans of requests, too.
///
/// Entries name the path without its query, and never bodies or credentials.
struct AccessLog: Sendable {
    /// The log of all requests; `nil` for none.
    let logger: Logger?
    /// The log of slow requests.
    let slowCallLogger: Logger
    /// The latest slow requests, for admins.
    let slowCalls: SlowCallLog
    /// The least duration of a slow request; `nil` to log none.
    let slowCallTime: Duration?

    /// True if nothing is logged.
    var isOff: Bool { logger == nil && slowCallTime == nil }

    /// A response to a request whose end is to be logged or traced.
    struct PendingEntry: Sendable {
        private let log: AccessLog
        let trace: RequestTrace
        private let method: HTTPRequest.Method
        private let path: String
        private let route: String
        private let status: HTTPResponse.Status
        private let isStream: Bool
        private let isSecure: Bool

        fileprivate init(
            _ log: AccessLog,
            _ trace: RequestTrace,
            _ request: Request,
            _ response: Response,
            _ context: HearthRequestContext
        ) {
            let route = context.route
            self.log = log
            self.trace = trace
            method = request.method
            path = request.uri.path
            self.route = route.pattern
            status = response.status
            isSecure = context.isSecure
            isStream =
                route.policy.isStream || response.headers[.contentType]?.utf8.starts(with: "text/event-stream".utf8) == true
        }

        /// Ends the span of a stream when it has been opened: it may stay open for days.
        func didWriteHead() {
            if isStream { endSpan(isComplete: true) }
        }

        private func endSpan(isComplete: Bool) {
            guard trace.span != nil else { return }
            trace.endRequest(
                method: HTTPMetrics.methods.contains(method) ? method.rawValue : nil,
                route: route,
                status: status.code,
                isSecure: isSecure,
                isComplete: isComplete
            )
        }

        /// Logs the request when the response has ended.
        ///
        /// - Parameters:
        ///   - byteCount: The size of the body that was sent.
        ///   - isComplete: False if the client or the server ended the connection before.
        func end(byteCount: Int, isComplete: Bool) {
            let nanoseconds = trace.time.nanoseconds
            endSpan(isComplete: isComplete)
            let isSlow = !isStream && log.slowCallTime.map { Duration.nanoseconds(nanoseconds) >= $0 } == true
            guard log.logger != nil || isSlow else { return }
            let facts = trace.facts
            let metadata = metadata(facts, nanoseconds, byteCount: byteCount, isComplete: isComplete)
            log.logger?.info("Request", metadata: metadata)
            guard isSlow else { return }
            log.slowCallLogger.warning("Slow request", metadata: metadata.merging(Self.cost(facts)) { $1 })
            log.slowCalls.add(
                SlowCallLog.Entry(
                    duration: .nanoseconds(nanoseconds),
                    request: "\(method) \(path)",
                    status: status.code,
                    requestID: trace.requestID,
                    facts: facts
                )
            )
        }

        private func metadata(
            _ facts: RequestTrace.Facts,
            _ nanoseconds: UInt64,
            byteCount: Int,
            isComplete: Bool
        ) -> Logger.Metadata {
            var metadata: Logger.Metadata = [
                "http.request.method": "\(method)", "url.path": "\(path)", "http.route": "\(route)",
                "http.response.status_code": .stringConvertible(status.code),
                "http.response.body.size": .stringConvertible(byteCount),
                "duration_ms": .stringConvertible(Double(nanoseconds / 1_000) / 1_000),
                "http.request.id": "\(trace.requestID)",
            ]
            if let id = trace.traceID { metadata["trace_id"] = "\(id)" }
            if isStream { metadata["http.response.stream"] = .stringConvertible(true) }
            if !isComplete { metadata["http.response.complete"] = .stringConvertible(false) }
            if let address = facts.clientAddress { metadata["client.address"] = "\(address)" }
            if let id = facts.caller?.keyID { metadata["key.id"] = "\(id)" }
            if let user = facts.caller?.user { metadata["user.id"] = "\(user.id.uid)" }
            if !facts.methods.isEmpty {
                metadata["rpc.method"] = "\(facts.methods.joined(separator: ","))"
                if facts.callCount > 1 { metadata["rpc.calls"] = .stringConvertible(facts.callCount) }
            }
            if let failure = facts.failure { metadata["rpc.status"] = "\(failure)" }
            return metadata
        }

        /// The database and the cost of queries.
        private static func cost(_ facts: RequestTrace.Facts) -> Logger.Metadata {
            var metadata: Logger.Metadata = [:]
            if !facts.methods.isEmpty || !facts.plan.isEmpty, let database = facts.database {
                metadata["db.namespace"] = "\(database)"
            }
            if !facts.plan.isEmpty {
                metadata["db.query.plan"] = "\(facts.plan.joined(separator: "; "))"
                metadata["db.query.entries_scanned"] = .stringConvertible(facts.entriesScanned)
                metadata["db.query.documents_read"] = .stringConvertible(facts.documentsRead)
            }
            return metadata
        }
    }

    /// Begins the entry of a request whose response begins; `nil` if nothing is logged or traced.
    func entry(
        _ trace: RequestTrace,
        _ request: Request,
        _ response: Response,
        in context: HearthRequestContext
    ) -> PendingEntry? {
        guard !isOff || trace.span != nil else { return nil }
        return PendingEntry(self, trace, request, response, context)
    }
}
