import HearthAPI
import HearthWire
import JSONRPC
import StrictJSON
import UTF8Text

/// The parameters of `/watch`: in the query of a GET, or as a JSON object in the body of a POST.
struct WatchParameters: ObjectParameter {
    var request: Request
    /// The database; `nil` for the default one.
    let database: String?
    /// The requested format; `nil` to negotiate by `Accept`.
    let format: WatchFormat?

    /// The requested stream.
    enum Request: Sendable {
        case target(WatchRequest)
        case targets(MultiTargetWatchRequest)
    }

    static let schemaName = "Watch"
    static let targets = Parameter<[WatchTargetParameter]?>(
        WatchRequestKeys.targets,
        "Several targets instead of one, each with an ID and a token to resume after, if any. Calls of watch.addTargets and "
            + "watch.removeTargets change them while the stream is open."
    )
    static let resume = Parameter<ResumeToken?>("resume", "The resume token of the frame to continue after.")
    static let from = Parameter<WatchRequest.Start?>(
        "from",
        "The start without a resume token: snapshot (the current state) or now (only later changes)."
    )
    static let include = WatchRequest.include
    static let coalesce = Parameter<Flag?>(
        "coalesce",
        "true or 1: combine the changes of each document when the reader has fallen behind."
    )
    static let limit = Parameter<Int?>(
        "limit",
        "End the stream after this number of changes, rounded up to whole commits; unlimited when absent."
    )
    static let onExpired = Parameter<WatchRequest.ExpiredPolicy?>(
        "onExpired",
        "The behavior when the history for resuming, or for a reader that has fallen behind, is no longer retained: reset (send the "
            + "current state) or fail (reject the request, or end the stream with the reason slow)."
    )
    static let heartbeat = Parameter<Int?>(
        "heartbeat",
        "The heartbeat interval in seconds: without changes, a checkpoint frame is sent. 1 to 60; 15 when absent."
    )
    static let timeout = Parameter<Int?>(
        "timeout",
        "The maximum duration of the stream in seconds: 1 to 3600; unlimited when absent."
    )
    static let database = Parameter<String?>(
        "database",
        "The database, as project/database, or only its name in the server's own project; the default database when absent."
    )
    static let format = Parameter<WatchFormat?>("format", "ndjson or sse; chosen by the Accept header when absent.")
    static let members: [any ParameterDescription] =
        PreparedWatchTarget.parameters + [
            targets, resume, from, include, coalesce, limit, onExpired, heartbeat, timeout, database, format,
        ]

    /// The parameters that are integers in a query.
    static let integers = [limit.name, heartbeat.name, timeout.name]

    /// The parameters that are JSON in a query.
    static let json = PreparedWatchTarget.jsonParameters + [targets.name]

    /// The parameters of a stream with one target, which others do not have.
    private static let ofOneTarget: [any ParameterDescription] =
        PreparedWatchTarget.parameters + [resume, from, include, coalesce, limit, onExpired]

    init(from members: Arguments) throws(RPCError) {
        database = try members[Self.database]
        format = try members[Self.format]
        let heartbeat = try members.number(Self.heartbeat, in: 1...60).map { Duration.seconds($0) } ?? .seconds(15)
        let timeout = try members.number(Self.timeout, in: 1...3_600).map { Duration.seconds($0) }
        if let targets = try members[Self.targets] {
            try Self.requireTargetsOnly(members, format)
            request = .targets(MultiTargetWatchRequest(targets: targets, heartbeat: heartbeat, timeout: timeout))
            return
        }
        request = .target(
            WatchRequest(
                target: try PreparedWatchTarget(from: members),
                resume: try members[Self.resume],
                start: try members[Self.from] ?? .snapshot,
                contents: try members[Self.include] ?? .document,
                coalesces: try members[Self.coalesce]?.isSet ?? false,
                limit: try members.number(Self.limit, in: 1 ... .max),
                onExpired: try members[Self.onExpired] ?? .reset,
                heartbeat: heartbeat,
                timeout: timeout,
                retryPolicy: .streaming
            )
        )
    }

    /// Requires that a stream with several targets has no parameters of one with one target.
    private static func requireTargetsOnly(_ members: Arguments, _ format: WatchFormat?) throws(RPCError) {
        for parameter in ofOneTarget where members.contains(parameter) {
            throw .invalidParams(at: "\(members.location(of: parameter))", reason: "not with \(targets.name)")
        }
        guard format != .sse else {
            throw .invalidParams(
                at: "\(members.location(of: Self.format))",
                reason: "a stream with \(targets.name) is newline-delimited JSON"
            )
        }
    }
}

/// The format of a stream.
package enum WatchFormat: String, EnumParameter {
    /// Newline-delimited JSON.
    case ndjson
    /// Server-Sent Events.
    case sse
}

/// A boolean parameter, which may be 1 or 0 in a query.
struct Flag: ParameterValue {
    let isSet: Bool

    static var schema: JSONSchema { .boolean }

    init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        if let string = json.string.map({ UTF8Key($0) }) {
            guard let isSet = ["0": false, "1": true, "false": false, "true": true][string] else {
                throw location.invalid("expected true or false", got: json)
            }
            self.isSet = isSet
        } else {
            isSet = try Bool(json: json, at: location)
        }
    }
}
