import ServerTestSupport
import Testing
import UTF8Text

/// A channel as a web client sees it. Each request has a connection of its own.
struct WebChannelClient: Sendable {
    let server: InProcessServer
    let path: String
    private(set) var sid = ""

    /// Begins the stream of a method, with messages.
    ///
    /// - Parameter headers: The header block, with line feeds.
    static func open(
        _ method: String,
        on server: InProcessServer,
        headers: String = "X-Goog-Api-Client:gl-js/ fire/12.5.0\n",
        _ messages: String...,
        fields: [String] = []
    ) async throws -> WebChannelClient {
        var client = WebChannelClient(server: server, path: "/google.firestore.v1.Firestore/\(method)/channel")
        let block = PercentEncoding.encode(UTF8Key(headers.replacing("\n", with: "\r\n")))
        let response = try await client.request(
            "POST",
            "VER=8&database=projects%2Fp%2Fdatabases%2F(default)&RID=48113&CVER=22&X-HTTP-Session-Id=gsessionid&zx=k3x&t=1",
            fields,
            body: "headers=\(block)&" + form(messages, from: 0)
        )
        guard response.status == 200 else { throw UnexpectedResponse(response) }
        let parts = response.body.split(separator: "\"", omittingEmptySubsequences: false)
        client.sid = String(try #require(parts.count > 3 ? parts[3] : nil))
        #expect(response.body == "51\n" + #"[[0,["c","\#(client.sid)","",8,14,30000]]]"# + "\n")
        return client
    }

    /// The error for a response that was not expected.
    struct UnexpectedResponse: Error, CustomStringConvertible {
        let description: String

        init(_ response: RawResponse) {
            description = "\(response.status): \(response.body)"
        }
    }

    /// Returns the form of messages.
    static func form(_ messages: [String], from id: Int) -> String {
        let items = messages.enumerated().map { index, json in
            "&req\(index)___data__=" + PercentEncoding.encode(UTF8Key(json))
        }
        return "count=\(messages.count)&ofs=\(id)" + items.joined()
    }

    /// Sends a request.
    func request(
        _ method: String,
        _ query: String,
        _ fields: [String] = [],
        body: String? = nil,
        type: String = "application/x-www-form-urlencoded"
    ) async throws -> RawResponse {
        let fields = fields + (body == nil ? [] : ["Content-Type: \(type)"])
        return try await withConnection(to: server) { connection in
            try await connection.send(method, "\(path)?\(query)", fields, body: body)
        }
    }

    /// Returns the query of a request on the channel.
    func query(_ rest: String) -> String {
        "gsessionid=G&VER=8&database=projects%2Fp%2Fdatabases%2F(default)&SID=\(sid)&\(rest)&zx=a&t=1"
    }

    /// Sends messages, and returns the body of the response.
    @discardableResult
    func send(_ messages: String..., from id: Int, acknowledging acknowledgedID: Int = 0) async throws -> String {
        let body = Self.form(messages, from: id)
        let response = try await request("POST", query("RID=48114&AID=\(acknowledgedID)"), body: body)
        guard response.status == 200 else { throw UnexpectedResponse(response) }
        return response.body
    }

    /// Waits until the channel has an array.
    func waitForArray(_ id: Int) async throws {
        while true {
            let status = try await send(from: 0)
            if let last = status.split(separator: ",").dropFirst().first.flatMap({ Int($0) }), last >= id { return }
        }
    }

    /// Receives the complete response of a long poll.
    func poll(acknowledging id: Int, timeout: Int = 30_000) async throws -> RawResponse {
        try await request("GET", query("RID=rpc&AID=\(id)&CI=1&TO=\(timeout)&TYPE=xmlhttp"))
    }

    /// Opens a back channel.
    func withBackChannel<Result: Sendable>(
        acknowledging id: Int,
        _ body: (inout WebChannelBackChannel) async throws -> Result
    ) async throws -> Result {
        try await withConnection(to: server) { connection in
            let query = query("RID=rpc&AID=\(id)&CI=0&TYPE=xmlhttp")
            try await connection.send(RawConnection.request("GET", "\(path)?\(query)"))
            let head = try await connection.responseHead()
            guard head.status == 200 else { throw UnexpectedResponse(head) }
            var backChannel = WebChannelBackChannel(head: head, connection: connection)
            return try await body(&backChannel)
        }
    }

    /// Ends the channel, as a page that is being closed does.
    func terminate() async throws {
        let response = try await request("POST", query("RID=48199&TYPE=terminate"), body: "", type: "text/plain;charset=UTF-8")
        #expect(response.status == 200)
        #expect(response.body.isEmpty)
    }
}

/// The response of a back channel.
struct WebChannelBackChannel {
    let head: RawResponse
    var connection: RawConnection
    private var received: [UInt8] = []

    init(head: RawResponse, connection: RawConnection) {
        self.head = head
        self.connection = connection
    }

    /// Receives a chunk with its length, which is verified; `nil` at the end of the response.
    mutating func next() async throws -> String? {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: received[..<end], as: UTF8.self)
                let count = try #require(Int(line))
                // Arrays are not split, but their parts may arrive one by one.
                if let text = String(validating: received[(end + 1)...], as: UTF8.self), text.utf16.count >= count {
                    let index = text.utf16.index(text.startIndex, offsetBy: count)
                    let chunk = line + "\n" + text[..<index]
                    received = Array(text[index...].utf8)
                    return chunk
                }
            }
            guard let part = try await connection.chunkBytes() else {
                #expect(received.isEmpty)
                return nil
            }
            received += part
        }
    }

    /// Receives the arrays up to an ID, each without its ID.
    mutating func arrays(through lastID: Int) async throws -> String {
        var text = ""
        while !text.contains("[\(lastID),") {
            text += try #require(await next())
        }
        return text
    }
}
