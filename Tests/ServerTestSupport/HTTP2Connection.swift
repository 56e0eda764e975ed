import NIOCore
import NIOHPACK

/// An HTTP/2 connection to a server that sends and receives single frames, valid or not.
package struct HTTP2Connection {
    package var raw: RawConnection
    private var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
    private var decoder = HPACKDecoder(allocator: ByteBufferAllocator(), maxDynamicTableSize: 4_096, maxHeaderListSize: 1 << 20)
    private var lastStream: UInt32 = 0
    /// The received bytes that have not been consumed.
    private var received = ByteBuffer()
    /// What has been received of each response.
    private var responses: [UInt32: Response] = [:]
    /// The number of PINGs that the server has acknowledged.
    package private(set) var acknowledgedPingCount = 0
    /// True if the server has sent GOAWAY.
    package private(set) var goAway: GoAway?
    /// The settings that the server has sent, by their identifiers.
    package private(set) var settings: [UInt16: UInt32] = [:]
    /// The number of bytes that the server accepts on each stream; 0 is the connection.
    package private(set) var windows: [UInt32: Int] = [0: 65_535]
    /// The streams on which the client allows no more data.
    package var unreadStreams: Set<UInt32> = []

    /// The beginning of every connection.
    package static let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

    package struct Frame: Sendable {
        package var type: UInt8
        package var flags: UInt8 = 0
        package var stream: UInt32 = 0
        package var payload: [UInt8] = []

        package init(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) {
            self.type = type
            self.flags = flags
            self.stream = stream
            self.payload = payload
        }

        package var bytes: [UInt8] {
            let count = payload.count
            return [UInt8(count >> 16), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF), type, flags] + bigEndian(stream) + payload
        }
    }

    package struct GoAway: Sendable {
        package let lastStream: UInt32
        package let errorCode: UInt32
    }

    package struct Response: Sendable {
        /// The final head, without `:status`.
        package var fields: [(name: String, value: String)] = []
        package var status: Int?
        package var informationalStatuses: [Int] = []
        package var body: [UInt8] = []
        package var trailers: [(name: String, value: String)]?
        package var isComplete = false
        /// The error code of RST_STREAM.
        package var resetCode: UInt32?

        package var text: String { String(decoding: body, as: UTF8.self) }

        package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

        package func trailer(_ name: String) -> String? { trailers?.first { $0.name == name }?.value }
    }

    fileprivate init(_ raw: RawConnection) {
        self.raw = raw
    }

    /// Exchanges settings with the server. Its limits apply once they have been acknowledged.
    ///
    /// - Parameters:
    ///   - initialWindow: The number of bytes that the server may send on each stream.
    ///   - firstRequest: The path of a request that is sent with the settings.
    fileprivate mutating func start(initialWindow: UInt32, firstRequest: String?) async throws {
        let settings = Frame(4, [0, 4] + bigEndian(initialWindow))
        let window = Frame(8, bigEndian(1 << 30))
        let request = try firstRequest.map { try head("GET", $0).bytes } ?? []
        try await raw.send(Array(Self.preface.utf8) + settings.bytes + window.bytes + request)
        while self.settings.isEmpty { try await receiveFrame() }
    }

    // MARK: - Sending

    package func send(_ frames: Frame...) async throws {
        try await raw.send(frames.flatMap(\.bytes))
    }

    /// Returns the frame that opens a new stream.
    package mutating func head(
        _ method: String,
        _ path: String,
        _ fields: [(String, String)] = [],
        authority: String = "localhost",
        endsStream: Bool = true
    ) throws -> Frame {
        try head(
            [(":method", method), (":scheme", "http"), (":path", path), (":authority", authority)] + fields,
            endsStream: endsStream
        )
    }

    /// Returns the frame that opens a new stream with a header list.
    package mutating func head(_ list: [(String, String)], endsStream: Bool = true) throws -> Frame {
        lastStream += lastStream == 0 ? 1 : 2
        windows[lastStream] = 65_535
        responses[lastStream] = Response()
        return Frame(1, flags: endsStream ? 5 : 4, stream: lastStream, try encode(list))
    }

    package mutating func encode(_ list: [(String, String)]) throws -> [UInt8] {
        var buffer = ByteBuffer()
        try encoder.encode(headers: HPACKHeaders(list), to: &buffer)
        return Array(buffer.readableBytesView)
    }

    package func data(_ text: String, on stream: UInt32, endsStream: Bool = false) -> Frame {
        Frame(0, flags: endsStream ? 1 : 0, stream: stream, Array(text.utf8))
    }

    /// Lets the server send more on a stream.
    package func extendWindow(of stream: UInt32, by byteCount: UInt32) async throws {
        try await send(Frame(8, stream: stream, bigEndian(byteCount)))
    }

    package func reset(_ stream: UInt32, code: UInt32 = 8) -> Frame {
        Frame(3, stream: stream, bigEndian(code))
    }

    /// Sends a request and receives its response.
    package mutating func request(
        _ method: String,
        _ path: String,
        _ fields: [(String, String)] = [],
        body: String? = nil,
        authority: String = "localhost"
    ) async throws -> Response {
        let head = try head(method, path, fields, authority: authority, endsStream: body == nil)
        if let body {
            try await send(head, data(body, on: head.stream, endsStream: true))
        } else {
            try await send(head)
        }
        return try await response(on: head.stream)
    }

    /// Sends a JSON-RPC call and receives its response.
    package mutating func call(_ json: String) async throws -> Response {
        try await request("POST", "/rpc", [("content-type", "application/json")], body: json)
    }

    // MARK: - Receiving

    /// Receives the complete response of a stream, or its reset.
    package mutating func response(on stream: UInt32) async throws -> Response {
        try await receive { responses in
            guard let response = responses[stream] else { return nil }
            return response.isComplete || response.resetCode != nil ? response : nil
        }
    }

    /// Receives frames until the responses are as expected.
    package mutating func receive<Result>(until result: ([UInt32: Response]) -> Result?) async throws -> Result {
        while true {
            if let result = result(responses) { return result }
            try await receiveFrame()
        }
    }

    /// Receives frames until the server has acknowledged a number of PINGs.
    package mutating func receivePings(_ count: Int) async throws {
        while acknowledgedPingCount < count { try await receiveFrame() }
    }

    /// Receives frames until the window of a stream, or of the connection, has a size.
    package mutating func receiveWindow(of stream: UInt32, atLeast size: Int) async throws {
        while windows[stream, default: 0] < size { try await receiveFrame() }
    }

    /// Receives frames until the server closes the connection.
    package mutating func receiveAll() async {
        while (try? await receiveFrame()) != nil {}
    }

    /// Records that bytes of a body have been sent.
    package mutating func recordSent(_ count: Int, on stream: UInt32) {
        windows[stream, default: 0] -= count
        windows[0, default: 0] -= count
    }

    /// Receives and processes a frame, and answers SETTINGS and DATA.
    package mutating func receiveFrame() async throws {
        let header = try await receive(9)
        let count = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        let stream = integer(header[5..<9])
        try await process(Frame(header[3], flags: header[4], stream: stream, try await receive(count)))
    }

    private mutating func receive(_ count: Int) async throws -> [UInt8] {
        while received.readableBytes < count {
            received.discardReadBytes()
            received.writeBytes(try await raw.receiveSome())
        }
        return received.readBytes(length: count) ?? []
    }

    private mutating func process(_ frame: Frame) async throws {
        switch frame.type {
        case 0:
            responses[frame.stream]?.body += frame.payload
            if frame.flags & 1 != 0 { responses[frame.stream]?.isComplete = true }
            if frame.payload.isEmpty || unreadStreams.contains(frame.stream) { break }
            // After the end of a stream the server ignores its window.
            try? await send(Frame(8, stream: frame.stream, bigEndian(UInt32(frame.payload.count))))
            try? await send(Frame(8, bigEndian(UInt32(frame.payload.count))))
        case 1:
            try receiveHeaders(frame)
        case 3:
            responses[frame.stream]?.resetCode = integer(frame.payload[0..<4])
        case 4 where frame.flags & 1 == 0:
            for start in stride(from: 0, to: frame.payload.count, by: 6) {
                let identifier = UInt16(frame.payload[start]) << 8 | UInt16(frame.payload[start + 1])
                settings[identifier] = integer(frame.payload[start + 2..<start + 6])
            }
            try? await send(Frame(4, flags: 1))
        case 6 where frame.flags & 1 != 0:
            acknowledgedPingCount += 1
        case 7:
            goAway = GoAway(lastStream: integer(frame.payload[0..<4]), errorCode: integer(frame.payload[4..<8]))
        case 8:
            windows[frame.stream, default: 0] += Int(integer(frame.payload[0..<4]))
        default:
            break
        }
    }

    private mutating func receiveHeaders(_ frame: Frame) throws {
        var buffer = ByteBuffer(bytes: frame.payload)
        let list = try decoder.decodeHeaders(from: &buffer).map { (name: $0.name, value: $0.value) }
        let status = list.first { $0.name == ":status" }.flatMap { Int($0.value) }
        var response = responses[frame.stream] ?? Response()
        if let status, status < 200 {
            response.informationalStatuses.append(status)
        } else if let status {
            response.status = status
            response.fields = list.filter { $0.name != ":status" }
        } else {
            response.trailers = list
        }
        if frame.flags & 1 != 0 { response.isComplete = true }
        responses[frame.stream] = response
    }
}

private func bigEndian(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
}

private func integer(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reduce(0) { $0 << 8 | UInt32($1) }
}

/// Runs `body` with an HTTP/2 connection to the server, then closes it.
package func withHTTP2Connection<Result: Sendable>(
    to server: InProcessServer,
    host: String = "127.0.0.1",
    initialWindow: UInt32 = 1 << 20,
    firstRequest: String? = nil,
    _ body: (inout HTTP2Connection) async throws -> Result
) async throws -> Result {
    try await withConnection(to: server, host: host) { raw in
        var connection = HTTP2Connection(raw)
        try await connection.start(initialWindow: initialWindow, firstRequest: firstRequest)
        return try await body(&connection)
    }
}
