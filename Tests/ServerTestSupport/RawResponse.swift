import NIOCore

/// A response with its body unframed.
package struct RawResponse: Sendable {
    package let status: Int
    package let version: String
    package let fields: [(name: String, value: String)]
    package let body: String

    /// The value of a header field, by its name in lowercase; several values are joined by commas.
    package subscript(_ name: String) -> String? {
        let values = fields.filter { $0.name == name }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}

extension RawConnection {
    /// Receives one response.
    ///
    /// - Parameter isBodyExpected: False for the response to a HEAD.
    package mutating func response(isBodyExpected: Bool = true) async throws -> RawResponse {
        let head = try await responseHead()
        guard isBodyExpected, head.status != 204, head.status != 304, head.status >= 200 else { return head }
        let body: String
        if head["transfer-encoding"] == "chunked" {
            body = String(decoding: try await Array(chunks().joined()), as: UTF8.self)
        } else if let length = head["content-length"].flatMap({ Int($0) }) {
            body = String(decoding: try await receive(length), as: UTF8.self)
        } else {
            body = try await receiveAll()
        }
        return RawResponse(status: head.status, version: head.version, fields: head.fields, body: body)
    }

    /// Receives one response while repeatedly sending a few bytes.
    package mutating func response(whileSending bytes: String) async throws -> RawResponse {
        let outbound = outbound
        let sending = Task {
            // Slowly enough that a head does not become too long before it times out.
            while (try? await Task.sleep(for: .milliseconds(5))) != nil {
                // Fails once the server has closed the connection.
                try? await outbound.write(ByteBuffer(string: bytes))
            }
        }
        defer { sending.cancel() }
        return try await response()
    }

    /// Receives the head of a response.
    package mutating func responseHead() async throws -> RawResponse {
        let lines = try await receive(through: "\r\n\r\n").dropLast(2).split(separator: "\r\n")
        let status = lines[0].split(separator: " ")
        let fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (name: parts[0].lowercased(), value: String(parts[1].drop { $0 == " " }))
        }
        return RawResponse(status: Int(status[1]) ?? 0, version: String(status[0]), fields: fields, body: "")
    }

    /// Receives one chunk of a chunked body; `nil` for the last one.
    package mutating func chunk() async throws -> String? {
        try await chunkBytes().map { String(decoding: $0, as: UTF8.self) }
    }

    /// Receives the bytes of one chunk, which may split a character; `nil` for the last one.
    package mutating func chunkBytes() async throws -> [UInt8]? {
        let size = Int(try await receive(through: "\r\n").dropLast(1), radix: 16) ?? 0
        let chunk = try await receive(size)
        _ = try await receive(2)
        return size == 0 ? nil : chunk
    }

    private mutating func chunks() async throws -> [[UInt8]] {
        var chunks: [[UInt8]] = []
        while let chunk = try await chunkBytes() { chunks.append(chunk) }
        return chunks
    }

    /// Sends a request and receives its response.
    package mutating func send(
        _ method: String = "GET",
        _ target: String,
        _ fields: [String] = [],
        body: String? = nil
    ) async throws -> RawResponse {
        try await send(Self.request(method, target, fields, body: body))
        return try await response(isBodyExpected: method != "HEAD")
    }

    /// Requests a stream, and receives it through the chunk that contains a text.
    package mutating func stream(_ target: String, until end: String) async throws -> String {
        try await send(Self.request("GET", target))
        _ = try await responseHead()
        var stream = ""
        while !stream.contains(end), let chunk = try await chunk() { stream += chunk }
        return stream
    }

    /// Makes a JSON-RPC call and returns the response body.
    package mutating func call(_ body: String) async throws -> String {
        try await send("POST", "/rpc", ["Content-Type: application/json"], body: body).body
    }

    /// Returns the bytes of a request. Adds a Host header if there is none.
    package static func request(_ method: String, _ target: String, _ fields: [String] = [], body: String? = nil) -> String {
        var lines = ["\(method) \(target) HTTP/1.1"]
        if !fields.contains(where: { $0.lowercased().utf8.starts(with: "host:".utf8) }) { lines.append("Host: localhost") }
        lines += fields
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
    }
}
