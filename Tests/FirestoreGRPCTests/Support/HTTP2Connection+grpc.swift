import DocumentModel
import FirestoreProto
import ServerTestSupport
import SwiftProtobuf

/// The response to a gRPC call: its messages and its status, in the trailers or in the head.
struct GRPCResponse {
    let head: HTTP2Connection.Response
    let messages: [[UInt8]]

    init(_ response: HTTP2Connection.Response) {
        head = response
        var messages: [[UInt8]] = []
        var body = response.body[...]
        while body.count >= 5 {
            let length = body.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
            // The rest of the last message has not been received.
            guard body.count >= 5 + length else { break }
            messages.append(Array(body.dropFirst(5).prefix(length)))
            body = body.dropFirst(5 + length)
        }
        self.messages = messages
    }

    /// True if the head has the status, and there is no body.
    var isTrailersOnly: Bool { head["grpc-status"] != nil && head.body.isEmpty && head.trailers == nil }

    /// The status code; `nil` for OK.
    var code: StatusCode? {
        StatusCode(rawValue: Int(status) ?? -1)
    }

    var isOK: Bool { status == "0" }

    /// The message as it was sent.
    var message: String { head["grpc-message"] ?? head.trailer("grpc-message") ?? "" }

    private var status: String { head["grpc-status"] ?? head.trailer("grpc-status") ?? "" }
}

extension HTTP2Connection {
    /// Makes a gRPC call.
    ///
    /// - Parameters:
    ///   - body: The body, at most as long as the window of a stream.
    ///   - fields: Additional fields, `name: value`.
    mutating func grpc(_ path: String, body: [UInt8], _ fields: [String] = []) async throws -> GRPCResponse {
        let pairs = fields.map { field in
            let name = field.prefix { $0 != ":" }
            return (name.lowercased(), String(field.dropFirst(name.count + 2)))
        }
        let head = try head(
            "POST",
            path,
            [("content-type", "application/grpc"), ("te", "trailers")] + pairs,
            endsStream: false
        )
        precondition(body.count <= windows[head.stream, default: 0], "The body exceeds the window of the stream.")
        try await send(head)
        var rest = body[...]
        repeat {
            let part = Array(rest.prefix(Self.maximumFrameBytes))
            rest = rest.dropFirst(part.count)
            try await send(Frame(0, flags: rest.isEmpty ? 1 : 0, stream: head.stream, part))
        } while !rest.isEmpty
        return GRPCResponse(try await response(on: head.stream))
    }

    private static let maximumFrameBytes = 16_384

    /// Calls a method of Firestore's service.
    mutating func firestore(
        _ method: String,
        _ request: some Message,
        _ fields: [String] = []
    ) async throws -> GRPCResponse {
        try await grpc(firestorePath(method), body: framed(try request.serializedBytes()), fields)
    }

    /// Calls a method that must succeed, and decodes the messages of its response.
    mutating func firestore<Response: Message>(
        _ method: String,
        _ request: some Message,
        returning _: Response.Type
    ) async throws -> [Response] {
        let response = try await firestore(method, request)
        guard response.isOK else { throw UnexpectedStatus(response) }
        return try response.messages.map { try Response(serializedBytes: $0) }
    }
}

/// The error for a call that failed unexpectedly.
struct UnexpectedStatus: Error, CustomStringConvertible {
    let description: String

    init(_ response: GRPCResponse) {
        description = "\(response.head.status ?? 0) \(response.code?.name ?? "no status"): \(response.message)"
    }
}

func firestorePath(_ method: String) -> String {
    "/google.firestore.v1.Firestore/\(method)"
}

/// Returns a message with its prefix.
func framed(_ message: [UInt8], flag: UInt8 = 0) -> [UInt8] {
    [flag] + (0..<4).reversed().map { UInt8(truncatingIfNeeded: message.count >> (8 * $0)) } + message
}

let databaseName = "projects/p/databases/(default)"

/// Returns the resource name of a document, or of the root for an empty path.
func resourceName(_ path: String) -> String {
    databaseName + "/documents" + (path.isEmpty ? "" : "/\(path)")
}
