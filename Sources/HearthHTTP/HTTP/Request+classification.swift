import DocumentModel
import HTTPTypes
import Hummingbird

// The kind of resource that a request addresses, which decides its authentication, origin check and error format.
extension Request {
    /// Returns whether the path, without the query, equals a path.
    func hasPath(_ path: String) -> Bool {
        uri.path.utf8.elementsEqual(path.utf8)
    }

    /// Whether this is a JSON-RPC request.
    var isRPCRequest: Bool {
        hasPath("/rpc")
    }

    /// Whether this is a request to the Firestore REST API.
    var isFirestoreRequest: Bool {
        uri.path.utf8.starts(with: "/v1/".utf8) || uri.path.utf8.starts(with: "/emulator/v1/".utf8)
    }

    /// Whether this is a request for an HTML page. Without credentials, pages redirect to sign-in.
    var isPageRequest: Bool {
        let path = uri.path.utf8
        return ["/", "/admin", "/rpc/docs", "/rpc/docs/"].contains { path.elementsEqual($0.utf8) }
            || path.starts(with: "/admin/".utf8)
    }

    /// Whether the client accepts Server-Sent Events, as a browser's `EventSource` does.
    var acceptsEvents: Bool {
        HeaderListElement.list(headers[.accept]).contains { $0.isValue("text/event-stream") && !$0.isUnacceptable }
    }

    /// Whether this is a request for a stream: `/watch` or the live updates of a page.
    var isStreamRequest: Bool { hasPath("/watch") || acceptsEvents }

    /// Whether this is a request to one of the APIs, which are called by programs and not by people with browsers.
    var isServiceRequest: Bool {
        isRPCRequest || isFirestoreRequest || hasPath("/watch") || hasPath("/openrpc.json")
    }

    /// The raw query of the target, without the question mark.
    var rawQuery: Substring.UTF8View {
        (head.path ?? "").utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
    }
}
