import Foundation

/// A span as a collector receives it.
package struct TraceSpan: Sendable {
    package let traceID: String
    package let spanID: String
    /// `nil` for the first span of a trace.
    package let parentID: String?
    package let state: String?
    package let name: String
    package let kind: Int
    package let start: UInt64
    package let end: UInt64
    /// The attributes, with all values as text.
    package let attributes: [String: String]
    /// 0 if it is not set, 1 for success, 2 for an error.
    package let status: Int
    /// The attributes of the process.
    package let resource: [String: String]

    /// The body of a request is not one that the protocol allows.
    package struct MalformedRequest: Error {
        let body: String
    }

    /// Returns the spans of a request.
    package static func spans(of request: TraceCollector.Request) throws -> [TraceSpan] {
        guard let body = try JSONSerialization.jsonObject(with: request.body) as? [String: Any],
            let resources = body["resourceSpans"] as? [[String: Any]]
        else { throw MalformedRequest(body: String(decoding: request.body, as: UTF8.self)) }
        return try resources.flatMap { resource in
            let attributes = attributes((resource["resource"] as? [String: Any])?["attributes"])
            let scopes = resource["scopeSpans"] as? [[String: Any]] ?? []
            return try scopes.flatMap { try ($0["spans"] as? [[String: Any]] ?? []).map { try TraceSpan($0, attributes) } }
        }
    }

    private init(_ json: [String: Any], _ resource: [String: String]) throws {
        guard let traceID = json["traceId"] as? String, let spanID = json["spanId"] as? String,
            let name = json["name"] as? String, let kind = json["kind"] as? Int,
            let start = (json["startTimeUnixNano"] as? String).flatMap({ UInt64($0) }),
            let end = (json["endTimeUnixNano"] as? String).flatMap({ UInt64($0) })
        else { throw MalformedRequest(body: "\(json)") }
        (self.traceID, self.spanID, self.name, self.kind, self.start, self.end) = (traceID, spanID, name, kind, start, end)
        parentID = json["parentSpanId"] as? String
        state = json["traceState"] as? String
        attributes = Self.attributes(json["attributes"])
        status = (json["status"] as? [String: Any])?["code"] as? Int ?? 0
        self.resource = resource
    }

    private static func attributes(_ json: Any?) -> [String: String] {
        let pairs = (json as? [[String: Any]] ?? []).compactMap { attribute -> (String, String)? in
            guard let key = attribute["key"] as? String, let value = (attribute["value"] as? [String: Any])?.values.first
            else { return nil }
            return (key, "\(value)")
        }
        return Dictionary(pairs, uniquingKeysWith: { $1 })
    }
}
