package import DocumentModel
import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `changes.poll`: returns the changes since a token, for clients that cannot hold a stream open.
package enum PollChanges: RPCMethod {
    /// The parameters of `changes.poll`.
    package struct Params: Sendable {
        package var target: PreparedWatchTarget
        package var resume: ResumeToken?
        package var wait: Duration
        package var limit: Int
        package var contents: WatchRequest.Contents
        package var coalesces: Bool
    }

    /// The changes since a token, and the token for the next poll.
    package struct Result: Sendable {
        /// The change frames; those of a commit are kept together.
        package var changes: [OutgoingWatchFrame] = []
        /// The token for the next poll.
        package var token: ResumeToken
        /// True if more changes exist beyond the limit.
        package var hasMore = false
    }

    static let resume = Parameter<ResumeToken?>(
        WatchRequestKeys.resume,
        "The token of the previous poll. Without it, the call returns only a token: then read the documents and poll with it."
    )
    static let waitMilliseconds = Parameter<Int?>(
        "waitMs",
        "The time to wait for a change if there is none, 0 to 30000 milliseconds, limited to 80 percent of the call timeout. "
            + "Default: 0."
    )
    static let limit = Parameter<Int?>(
        "limit",
        "The number of changes to return, 1 to 1000; the changes of a commit are kept together. Default: 100."
    )
    static let coalesce = Parameter<Bool?>(
        "coalesce",
        "Whether to coalesce commits, returning only the net change of each document."
    )

    package static let name: UTF8Key = "changes.poll"
    package static let requiredPermission = Permission.reader
    package static let summary = "Returns the changes since a token, and waits for a change if there is none."
    package static let parameters: [any ParameterDescription] =
        PreparedWatchTarget.parameters + [resume, waitMilliseconds, limit, WatchRequest.include, coalesce]
    package static let result = ResultDescription(
        "result",
        .object([
            .init("changes", .array(of: .change), "The changes, in the form of watch stream frames."),
            .init("token", .string(), "The token for the next poll."),
            .init("more", .boolean, "Whether more changes exist beyond the limit."),
        ]),
        "The changes."
    )
    package static let expectedResponseBytes = ListDocuments.expectedResponseBytes
    package static let errors =
        [
            ErrorDescription(
                status: .outOfRange,
                "The changes after the token are no longer retained, or the token belongs to a different history. Poll without a "
                    + "token, and read the documents again."
            )
        ] + .queryErrors
    package static let examples = [
        RPCExample(
            "the first poll",
            params: #"{"collection": "books"}"#,
            result: #"{"changes": [], "token": "AjJIxbnGhH4wAAAAAAAAAAMABhJ8q-MwAB6DyA8i7_IM", "more": false}"#
        )
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        Params(
            target: try PreparedWatchTarget(from: arguments),
            resume: try arguments[resume],
            wait: .milliseconds(try arguments.number(waitMilliseconds, in: 0...30_000) ?? 0),
            limit: try arguments.number(limit, in: 1...1_000) ?? 100,
            contents: try arguments[WatchRequest.include] ?? .document,
            coalesces: try arguments[coalesce] ?? false
        )
    }

    /// The maximum time to collect existing changes; the next poll returns the rest.
    private static let catchUpTime = Duration.seconds(5)

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> Result {
        try params.target.requireAccess(for: context.caller)
        let position = try await context.safePosition()
        guard let resume = params.resume else { return Result(token: ResumeToken(params.target, at: position)) }
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
        let observation = context.keys.onRevocation(of: context.caller) { session.end(.revoked) }
        defer { withExtendedLifetime(observation) {} }
        for try await frames in session {
            for frame in frames {
                if case .end(.revoked, _) = frame {
                    throw StatusError(.unauthenticated, "The key was revoked or has expired during the call.")
                }
                if case .end(.slow, _) = frame { throw .tokenExpired(at: try await context.safePosition()) }
                if case .change = frame { result.changes.append(frame) }
                if case .end(.limit, _) = frame { result.hasMore = true }
                if let token = frame.token { result.token = token }
            }
            guard result.token.sequence >= position.lastSequence else { continue }
            // A frame with a token follows when the stream has caught up, and then after each wait.
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
