import FirestoreProto
import ServerTestSupport
import SwiftProtobuf

/// An open gRPC stream of a client: sends requests, and receives responses in their order.
struct OpenStream<Request: Message, Response: Message> {
    let id: UInt32
    private var readCount = 0

    fileprivate init(id: UInt32) {
        self.id = id
    }

    func send(_ request: Request, on connection: inout HTTP2Connection) async throws {
        try await connection.send(.init(0, stream: id, framed(try request.serializedBytes())))
    }

    /// Closes the client's side.
    func close(on connection: inout HTTP2Connection) async throws {
        try await connection.send(.init(0, flags: 1, stream: id))
    }

    /// Receives responses up to the first that `isLast`.
    ///
    /// - Throws: ``UnexpectedStatus`` if the stream ends before.
    mutating func receive(
        on connection: inout HTTP2Connection,
        until isLast: (Response) -> Bool
    ) async throws -> [Response] {
        var received: [Response] = []
        while true {
            let (id, count) = (id, readCount)
            let response = try await connection.receive { streams -> GRPCResponse? in
                guard let response = streams[id] else { return nil }
                let parsed = GRPCResponse(response)
                return parsed.messages.count > count || response.isComplete || response.resetCode != nil ? parsed : nil
            }
            guard response.messages.count > readCount else { throw UnexpectedStatus(response) }
            for message in response.messages[readCount...] {
                readCount += 1
                received.append(try Response(serializedBytes: message))
                if let last = received.last, isLast(last) { return received }
            }
        }
    }

    /// Receives the next response.
    mutating func receive(on connection: inout HTTP2Connection) async throws -> Response {
        try await receive(on: &connection) { _ in true }[0]
    }

    /// Receives the rest of the response, with its status.
    func end(on connection: inout HTTP2Connection) async throws -> GRPCResponse {
        GRPCResponse(try await connection.response(on: id))
    }
}

extension HTTP2Connection {
    /// Opens a stream of a method of Firestore's service.
    mutating func open<Request: Message, Response: Message>(
        _ method: String,
        _ request: Request.Type,
        _ response: Response.Type,
        _ fields: [(String, String)] = []
    ) async throws -> OpenStream<Request, Response> {
        let head = try head("POST", firestorePath(method), [("content-type", "application/grpc")] + fields, endsStream: false)
        try await send(head)
        return OpenStream(id: head.stream)
    }
}
