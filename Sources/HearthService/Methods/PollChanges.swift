package import DocumentModel
import DocumentStore
package import JSONRPC
package import StrictJSON

/// `changes.poll`: what has changed since a token, for clients that can't hold a stream open.
package enum PollChanges: RPCMethod {
    package struct Params: Sendable {
        package var target: WatchTarget
        package var resume: WatchToken?
        package var wait: Duration
        package var limit: Int
        package var contents: WatchRequest.Contents
        package var coalesces: Bool
    }

    package struct Result: Sendable {
        /// The frames of the changes, those of a commit together.
        package var changes: [WatchFrame] = []
        /// What to poll with next.
        package var token: WatchToken
        /// Whether the limit kept changes back that are there already.
        package var hasMore = false
    }

    static let resume = Parameter<WatchToken?>(
        "resume",
        "The token of the poll before. Without one nothing is told but a token: read the documents then, and poll with it."
    )
    static let waitMilliseconds = Parameter<Int?>(
        "waitMs",
        "How long to wait for a change where there is none: 0 to 30000 milliseconds, else 0; never longer than most of the time "
            + "that a call may take."
    )
    static let limit = Parameter<Int?>(
        "limit",
        "After how many changes to stop, those of one commit kept together: 1 to 1000, else 100."
    )
    static let coalesce = Parameter<Bool?>("coalesce", "Whether to tell only what became of each document.")

    package static let name: UTF8Key = "changes.poll"
    package static let right = Role.reader
    package static let summary = "Tells what has changed since a token, and waits for a change where there is none."
    package static let parameters: [any ParameterDescription] =
        WatchTarget.parameters + [resume, waitMilliseconds, limit, WatchRequest.include, coalesce]
    package static let result = ResultDescription(
        "result",
        .object([
            .init("changes", .array(of: .change), "The changes, each as the frame that a stream would send."),
            .init("token", .string(), "What to poll with next."),
            .init("more", .boolean, "Whether the limit kept changes back that are there already."),
        ]),
        "What has changed."
    )
    package static let expectedAnswerBytes = ListDocuments.expectedAnswerBytes
    package static let errors =
        [
            ErrorDescription(
                status: .outOfRange,
                "The changes after the token are no longer kept, or are of another history. Poll without it, and read the "
                    + "documents anew."
            )
        ] + .ofQueries
    package static let examples = [
        RPCExample(
            "where to begin",
            params: #"{"collection": "books"}"#,
            result: #"{"changes": [], "token": "AjJIxbnGhH4wAAAAAAAAAAMABhJ8q-MwAB6DyA8i7_IM", "more": false}"#
        )
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        Params(
            target: try WatchTarget(from: arguments),
            resume: try arguments[resume],
            wait: .milliseconds(try arguments.number(waitMilliseconds, in: 0...30_000) ?? 0),
            limit: try arguments.number(limit, in: 1...1_000) ?? 100,
            contents: try arguments[WatchRequest.include] ?? .document,
            coalesces: try arguments[coalesce] ?? false
        )
    }

    /// For how long changes are gathered that are there already; what is left comes with the next poll.
    private static let catchUpTime = Duration.seconds(5)

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> Result {
        try params.target.check(for: context.caller)
        let position = context.store.position
        guard let resume = params.resume else { return Result(token: WatchToken(params.target, at: position)) }
        let request = WatchRequest(
            target: params.target,
            resume: resume,
            contents: params.contents,
            coalesces: params.coalesces,
            limit: params.limit,
            onExpired: .fail,
            heartbeat: params.wait > .zero ? params.wait : .seconds(15),
            timeout: min(max(params.wait, Self.catchUpTime), context.server.limits.callTimeout * 0.8)
        )
        var result = Result(token: resume)
        var waiting: ContinuousClock.Instant?
        let session = try await WatchSession(request, in: context)
        let observation = context.keys.onEnd(of: context.caller) { session.end(.revoked) }
        defer { withExtendedLifetime(observation) {} }
        for try await frames in session {
            for frame in frames {
                if case .end(.revoked, _) = frame {
                    throw StatusError(.unauthenticated, "The key was revoked or has expired while the call waited.")
                }
                if case .end(.slow, _) = frame { throw .expired(at: context.store.position) }
                if case .change = frame { result.changes.append(frame) }
                if case .end(.limit, _) = frame { result.hasMore = true }
                if let token = frame.token { result.token = token }
            }
            guard result.token.sequence >= position.lastSequence else { continue }
            // A frame with a token comes when all is told, and then after each wait.
            let start = waiting ?? .now
            waiting = start
            if !result.changes.isEmpty || .now - start >= params.wait { break }
        }
        if result.token.sequence < position.lastSequence { result.hasMore = true }
        guard !Task.isCancelled else { throw StatusError(.cancelled, "The call was cancelled.") }
        return result
    }

    package static func write(_ result: Result, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("changes")
        writer.beginArray()
        for frame in result.changes { frame.write(to: &writer) }
        writer.endArray()
        writer.key("token")
        writer.string(result.token.text)
        writer.key("more")
        writer.boolean(result.hasMore)
        writer.endObject()
    }
}
