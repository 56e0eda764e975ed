internal import SpanRecording
internal import StrictJSON
internal import Tracing

/// Encodes spans as the JSON of OTLP (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): IDs are hexadecimal, 64-bit
/// integers strings, enumerations numbers.
struct OTLPEncoder {
    /// The version of the program, the instrumentation scope of all spans.
    let version: String
    /// The attributes of the process.
    let resource: [(key: String, value: String)]

    /// The maximum length of strings, in Unicode scalars.
    private static let maximumLength = 1_024

    /// Returns the body of a request to export spans.
    func encode(_ spans: [SpanRecord]) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 512 * (spans.count + 1))
        writer.object { writer in
            writer.array("resourceSpans") { writer in
                writer.object { writer in
                    writer.key("resource")
                    writer.object { writer in
                        writer.array("attributes") { writer in
                            for (key, value) in resource { writer.attribute(key, .string(value)) }
                        }
                    }
                    writer.array("scopeSpans") { writer in
                        writer.object { writer in
                            writer.key("scope")
                            writer.object { writer in
                                writer.member("name", "hearth")
                                writer.member("version", version)
                            }
                            writer.array("spans") { writer in for span in spans { writer.span(span) } }
                        }
                    }
                }
            }
        }
        return writer.finish()
    }

    /// Returns the value of an attribute as it is exported; `nil` for one that is not, since it may have what a client has sent.
    fileprivate static func exported(_ key: String, _ value: SpanAttribute) -> SpanAttribute? {
        switch (key, value) {
        case ("url.query", _): nil
        case ("url.full", .string(let url)): .string(truncated(String(url.prefix { $0 != "?" && $0 != "#" })))
        case (_, .string(let text)): .string(truncated(text))
        case (_, .stringArray(let texts)): .stringArray(texts.map(truncated))
        case (_, .stringConvertible(let value)): .string(truncated("\(value)"))
        case (_, .stringConvertibleArray(let values)): .stringArray(values.map { truncated("\($0)") })
        default: value
        }
    }

    private static func truncated(_ text: String) -> String {
        text.utf8.count <= maximumLength ? text : String(String.UnicodeScalarView(text.unicodeScalars.prefix(maximumLength)))
    }
}

extension JSONWriter {
    fileprivate mutating func object(_ body: (inout JSONWriter) -> Void) {
        beginObject()
        body(&self)
        endObject()
    }

    fileprivate mutating func array(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
        key(name)
        beginArray()
        body(&self)
        endArray()
    }

    fileprivate mutating func member(_ name: StaticString, _ value: String) {
        key(name)
        string(value)
    }

    fileprivate mutating func member(_ name: StaticString, _ value: Int64) {
        key(name)
        integer(value)
    }

    fileprivate mutating func span(_ span: SpanRecord) {
        object { writer in
            writer.member("traceId", "\(span.trace.traceID)")
            writer.member("spanId", "\(span.trace.spanID)")
            if !span.trace.state.isEmpty { writer.member("traceState", span.trace.state) }
            if let id = span.parentID { writer.member("parentSpanId", "\(id)") }
            writer.member("flags", 1)
            writer.member("name", span.name)
            writer.member("kind", span.kind.number)
            writer.member("startTimeUnixNano", "\(span.startTime)")
            writer.member("endTimeUnixNano", "\(span.endTime)")
            writer.attributes(span.attributes)
            if !span.events.isEmpty {
                writer.array("events") { writer in for event in span.events { writer.event(event) } }
            }
            if !span.links.isEmpty {
                writer.array("links") { writer in for link in span.links { writer.link(link) } }
            }
            if let status = span.status {
                writer.key("status")
                writer.object { writer in
                    writer.member("code", status.code == .error ? 2 : 1)
                    if let message = status.message { writer.member("message", message) }
                }
            }
        }
    }

    private mutating func event(_ event: SpanEvent) {
        object { writer in
            writer.member("timeUnixNano", "\(event.nanosecondsSinceEpoch)")
            writer.member("name", event.name)
            writer.attributes(event.attributes)
        }
    }

    private mutating func link(_ link: SpanLink) {
        guard let trace = link.context.trace else { return }
        object { writer in
            writer.member("traceId", "\(trace.traceID)")
            writer.member("spanId", "\(trace.spanID)")
            writer.attributes(link.attributes)
        }
    }

    private mutating func attributes(_ attributes: SpanAttributes) {
        var found: [(String, SpanAttribute)] = []
        func add(_ key: String, _ value: SpanAttribute) {
            if let value = OTLPEncoder.exported(key, value) { found.append((key, value)) }
        }
        attributes.forEach(add)
        array("attributes") { writer in
            for (key, value) in found.sorted(by: { $0.0 < $1.0 }) { writer.attribute(key, value) }
        }
    }

    fileprivate mutating func attribute(_ key: String, _ value: SpanAttribute) {
        object { writer in
            writer.member("key", key)
            writer.key("value")
            writer.value(value)
        }
    }

    private mutating func value(_ value: SpanAttribute) {
        switch value {
        case .string(let value): single("stringValue") { $0.string(value) }
        case .bool(let value): single("boolValue") { $0.boolean(value) }
        case .int32(let value): single("intValue") { $0.string("\(value)") }
        case .int64(let value): single("intValue") { $0.string("\(value)") }
        case .double(let value): single("doubleValue") { $0.doubleOrName(value) }
        case .stringArray(let values): list(values.map { .string($0) })
        case .boolArray(let values): list(values.map { .bool($0) })
        case .int32Array(let values): list(values.map { .int32($0) })
        case .int64Array(let values): list(values.map { .int64($0) })
        case .doubleArray(let values): list(values.map { .double($0) })
        default: single("stringValue") { $0.string("") }
        }
    }

    private mutating func list(_ values: [SpanAttribute]) {
        single("arrayValue") { writer in
            writer.object { writer in
                writer.array("values") { writer in for value in values { writer.value(value) } }
            }
        }
    }

    private mutating func single(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
        object { writer in
            writer.key(name)
            body(&writer)
        }
    }

    /// Writes a double; those that JSON has no literal for by their names in Protocol Buffers.
    private mutating func doubleOrName(_ value: Double) {
        if value.isFinite { return double(value) }
        string(value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity")
    }
}

extension SpanKind {
    /// The number in the protocol.
    fileprivate var number: Int64 {
        switch self {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }
}
