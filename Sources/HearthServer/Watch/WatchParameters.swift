import DocumentModel
import HearthService
import JSONRPC
import StrictJSON

/// What `/watch` takes: in the query of a GET, or as the members of an object in the body of a POST.
struct WatchParameters: ObjectParameter {
    var request: WatchRequest
    /// The database; the default one when nil.
    let database: String?
    /// As the parameter says; as the client accepts when nil.
    let format: WatchFormat?

    static let schemaName = "Watch"
    static let resume = Parameter<WatchToken?>("resume", "Go on after the frame that had this token.")
    static let from = Parameter<WatchRequest.Start?>(
        "from",
        "Without a token: snapshot (begin with the whole state) or now (with the next change)."
    )
    static let include = WatchRequest.include
    static let coalesce = Parameter<Flag?>(
        "coalesce",
        "true or 1: to a reader that has fallen behind, tell only what became of each document."
    )
    static let limit = Parameter<Int?>(
        "limit",
        "After how many changes the stream ends, those of one commit kept together; never when absent."
    )
    static let onExpired = Parameter<WatchRequest.ExpiredPolicy?>(
        "onExpired",
        "What to do when that is not possible any more, or later when you have fallen behind what is kept: reset (begin with the "
            + "whole state) or fail (refuse, and end the stream with the reason slow)."
    )
    static let heartbeat = Parameter<Int?>(
        "heartbeat",
        "After how many seconds of silence a checkpoint is sent: 1 to 60, else 15."
    )
    static let timeout = Parameter<Int?>(
        "timeout",
        "After how many seconds the stream ends: 1 to 3600; as long as you stay when absent."
    )
    static let database = Parameter<String?>(
        "database",
        "The database, as project/database, or by its name alone in the server's own project; the default one when absent."
    )
    static let format = Parameter<WatchFormat?>("format", "ndjson or sse; by the Accept header when absent.")
    static let members: [any ParameterDescription] =
        WatchTarget.parameters + [resume, from, include, coalesce, limit, onExpired, heartbeat, timeout, database, format]

    /// The names of those that a URL gives as digits.
    static let integers = [limit.name, heartbeat.name, timeout.name]

    init(from members: Arguments) throws(RPCError) {
        database = try members[Self.database]
        format = try members[Self.format]
        request = WatchRequest(
            target: try WatchTarget(from: members),
            resume: try members[Self.resume],
            start: try members[Self.from] ?? .snapshot,
            contents: try members[Self.include] ?? .document,
            coalesces: try members[Self.coalesce]?.isSet ?? false,
            limit: try members.number(Self.limit, in: 1 ... .max),
            onExpired: try members[Self.onExpired] ?? .reset,
            heartbeat: try members.number(Self.heartbeat, in: 1...60).map { .seconds($0) } ?? .seconds(15),
            timeout: try members.number(Self.timeout, in: 1...3_600).map { .seconds($0) },
            patience: .ofStreams
        )
    }
}

/// How the frames of a stream are written.
package enum WatchFormat: String, NamedParameter {
    /// One JSON object a line.
    case ndjson
    /// Server-Sent Events.
    case sse
}

/// A parameter that is true or false, and in a URL 1 or 0.
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
