import HTTPTypes
package import HummingbirdCore

extension Request {
    /// Returns whether the body has a media type, regardless of its parameters (RFC 9110, 8.3.1).
    ///
    /// - Parameter type: The type in lowercase; the header is compared case-insensitively.
    package func hasMediaType(_ type: StaticString) -> Bool {
        contentType.hasValue(type)
    }

    /// True if the client uses the media type of JSON-RPC, in `Content-Type` or `Accept`.
    var usesJSONRPCMediaType: Bool {
        hasMediaType("application/json-rpc")
            || HeaderListElement.list(headers[.accept]).contains { $0.hasValue("application/json-rpc") }
    }

    /// The media type of the body, with its parameters.
    var contentType: HeaderListElement {
        HeaderListElement((headers[.contentType] ?? "").utf8)
    }

    /// True if the client names HTML among the types that it accepts, as browsers do. Programs typically accept `*/*`.
    package var acceptsHTML: Bool {
        HeaderListElement.list(headers[.accept]).contains { $0.hasValue("text/html") && !$0.isUnacceptable }
    }

    /// True if the client accepts Server-Sent Events, as a browser's `EventSource` does.
    var acceptsServerSentEvents: Bool {
        HeaderListElement.list(headers[.accept]).contains { $0.hasValue("text/event-stream") && !$0.isUnacceptable }
    }
}
