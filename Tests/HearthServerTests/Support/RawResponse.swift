import NIOCore

/// A response as it came over the wire, its body without framing.
struct RawResponse: Sendable {
    let status: Int
    let version: String
    let fields: [(name: String, value: String)]
    let body: String

    /// The value of a field, by its name in small letters; several of them with commas between.
    subscript(_ name: String) -> String? {
        let values = fields.filter { $0.name == name }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}

extension RawConnection {
    /// Takes one response.
    ///
    /// - Parameter isBodyExpected: False for the response to a HEAD.
    mutating func response(isBodyExpected: Bool = true) async throws -> RawResponse {
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

    /// Takes one response, sending a drop again and again until it has come.
    mutating func response(whileSending drop: String) async throws -> RawResponse {
        let outbound = outbound
        let dripping = Task {
            // Not so fast that a head becomes too long before its time is over.
            while (try? await Task.sleep(for: .milliseconds(5))) != nil {
                // Fails when the server has closed the connection, which the response will tell.
                try? await outbound.write(ByteBuffer(string: drop))
            }
        }
        defer { dripping.cancel() }
        return try await response()
    }

    /// Takes the head of a response.
    mutating func responseHead() async throws -> RawResponse {
        let lines = try await receive(through: "\r\n\r\n").dropLast(2).split(separator: "\r\n")
        let status = lines[0].split(separator: " ")
        let fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (name: parts[0].lowercased(), value: String(parts[1].drop { $0 == " " }))
        }
        return RawResponse(status: Int(status[1]) ?? 0, version: String(status[0]), fields: fields, body: "")
    }

    /// Takes one chunk of a chunked body; nil for the last one.
    mutating func chunk() async throws -> String? {
        try await chunkBytes().map { String(decoding: $0, as: UTF8.self) }
    }

    /// Takes the bytes of one chunk, which may begin and end within a character; nil for the last one.
    mutating func chunkBytes() async throws -> [UInt8]? {
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

    /// Sends a request and takes its response.
    mutating func ask(
        _ method: String = "GET",
        _ target: String,
        _ fields: [String] = [],
        body: String? = nil
    ) async throws -> RawResponse {
        try await send(Self.request(method, target, fields, body: body))
        return try await response(isBodyExpected: method != "HEAD")
    }

    /// Asks for a stream, and takes it up to the chunk that something stands in.
    mutating func follow(_ target: String, until end: String) async throws -> String {
        try await send(Self.request("GET", target))
        _ = try await responseHead()
        var stream = ""
        while !stream.contains(end), let chunk = try await chunk() { stream += chunk }
        return stream
    }

    /// Calls a method, and takes the response's body.
    mutating func call(_ body: String) async throws -> String {
        try await ask("POST", "/rpc", ["Content-Type: application/json"], body: body).body
    }

    /// The bytes of a request; a Host is added where there is none.
    static func request(_ method: String, _ target: String, _ fields: [String] = [], body: String? = nil) -> String {
        var lines = ["\(method) \(target) HTTP/1.1"]
        if !fields.contains(where: { $0.lowercased().utf8.starts(with: "host:".utf8) }) { lines.append("Host: localhost") }
        lines += fields
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
    }
}
