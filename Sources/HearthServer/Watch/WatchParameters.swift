import DocumentModel
import HearthService
import JSONRPC
import StrictJSON

/// What `/watch` takes: in the query of a GET, or as the members of an object in the body of a POST.
struct WatchParameters: ObjectParameter {
    var request: WatchRequest
    /// As the parameter says; as the client accepts when nil.
    let format: WatchFormat?

    static let schemaName = "Watch"
    static let document = Parameter<DocumentPath?>("document", "Watch this document.")
    static let collection = Parameter<CollectionPath?>("collection", "Watch the documents of this collection.")
    static let resume = Parameter<WatchToken?>("resume", "Go on after the frame that had this token.")
    static let onExpired = Parameter<ExpiredPolicy?>(
        "onExpired",
        "What to do when that is not possible any more: reset (begin with the whole state) or fail."
    )
    static let heartbeat = Parameter<Int?>(
        "heartbeat",
        "After how many seconds of silence a checkpoint is sent: 1 to 60, else 15."
    )
    static let timeout = Parameter<Int?>(
        "timeout",
        "After how many seconds the stream ends: 1 to 3600; as long as you stay when absent."
    )
    static let format = Parameter<WatchFormat?>("format", "ndjson or sse; by the Accept header when absent.")
    static let members: [any ParameterDescription] = [document, collection, resume, onExpired, heartbeat, timeout, format]

    init(from members: Arguments) throws(RPCError) {
        let target: WatchTarget
        switch (try members[Self.document], try members[Self.collection]) {
        case (let document?, nil): target = .document(document)
        case (nil, let collection?): target = .collection(collection)
        case (nil, nil), (.some, .some):
            throw .invalidParams(
                at: "\(members.location(of: Self.document))",
                reason: "give exactly one of document and collection"
            )
        }
        format = try members[Self.format]
        request = WatchRequest(
            target: target,
            resume: try members[Self.resume],
            onExpired: try members[Self.onExpired]?.policy ?? .reset,
            heartbeat: try Self.seconds(Self.heartbeat, atMost: 60, in: members) ?? .seconds(15),
            timeout: try Self.seconds(Self.timeout, atMost: 3_600, in: members)
        )
    }

    private static func seconds(
        _ parameter: Parameter<Int?>,
        atMost maximum: Int,
        in members: Arguments
    ) throws(RPCError) -> Duration? {
        guard let seconds = try members[parameter] else { return nil }
        guard (1...maximum).contains(seconds) else {
            throw .invalidParams(
                at: "\(members.location(of: parameter))",
                reason: "expected 1 to \(maximum) seconds",
                got: "\(seconds)"
            )
        }
        return .seconds(seconds)
    }
}

/// How the frames of a stream are written.
enum WatchFormat: String, NamedParameter {
    /// One JSON object a line.
    case ndjson
    /// Server-Sent Events.
    case sse
}

/// The names of ``WatchRequest/ExpiredPolicy``.
enum ExpiredPolicy: String, NamedParameter {
    case reset
    case fail

    var policy: WatchRequest.ExpiredPolicy {
        switch self {
        case .reset: .reset
        case .fail: .fail
        }
    }
}

/// A parameter that is one of a few names.
protocol NamedParameter: ParameterValue, CaseIterable, RawRepresentable<String> {}

extension NamedParameter {
    static var schema: JSONSchema {
        .string(values: allCases.map(\.rawValue))
    }

    init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        let name = UTF8Key(try String(json: json, at: location))
        guard let value = Self.allCases.first(where: { UTF8Key($0.rawValue) == name }) else {
            throw location.invalid("expected \(Self.allCases.map(\.rawValue).joined(separator: " or "))", got: json)
        }
        self = value
    }
}
