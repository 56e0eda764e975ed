internal import AsyncHTTPClient
public import DocumentModel
internal import NIOCore
internal import NIOHTTP1
package import StrictJSON

/// A server to call: JSON-RPC over HTTP/1.1 connections that stay open between calls.
///
/// Any number of tasks may call at once. Every failure is a `StatusError`: what the server refused with its own code, text
/// and place, what did not reach it as `.unavailable`. A connection holds sockets: end it with ``shutdown()``, or let
/// ``withConnection(to:key:database:_:)`` do so.
public final class HearthConnection: Sendable {
    /// The server that is called.
    public let server: ServerAddress
    /// The database that is called in, as `project/database`, or its name alone in the server's own project; the server's default one
    /// when nil.
    public let database: String?
    private let authorization: String?
    /// How long the head of an answer may take.
    private let timeout: TimeAmount
    /// For calls, over few connections that are used again and again.
    private let callClient: HTTPClient
    /// For streams, each of which keeps a connection to itself: calls must not wait for one of them to end.
    private let streamClient: HTTPClient

    /// Reads of single documents.
    let reads = DocumentReads(maximumRequests: maximumCallConnections)

    /// How many calls can be under way at the same moment; more wait for their turn.
    private static let maximumCallConnections = 8
    /// The longest answer that is read into memory.
    private static let maximumAnswerBytes = 64 << 20
    /// How long a stream may be silent; longer than the longest heartbeat a server offers.
    private static let silenceLimit = TimeAmount.seconds(75)

    /// Makes a connection; nothing is sent before the first call.
    ///
    /// - Parameter timeout: How long an answer may take to begin.
    /// - Throws: `.invalidArgument` when `key` could not stand in an HTTP header.
    public init(
        server: ServerAddress,
        key: String? = nil,
        database: String? = nil,
        timeout: Duration = .seconds(60)
    ) throws(StatusError) {
        if let key {
            guard !key.isEmpty, key.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
                throw StatusError(
                    .invalidArgument,
                    "The key is not a Hearth key: expected ASCII letters, digits and signs without spaces."
                )
            }
        }
        self.server = server
        self.database = database
        self.timeout = TimeAmount(timeout)
        self.authorization = key.map { "Bearer \($0)" }
        self.callClient = Self.client(maximumConnections: Self.maximumCallConnections)
        self.streamClient = Self.client(maximumConnections: .max)
    }

    private static func client(maximumConnections: Int) -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout = .init(connect: .seconds(10), read: silenceLimit)
        configuration.httpVersion = .http1Only
        // A refused connection is said at once, not after ten seconds of trying.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = maximumConnections
        return HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }

    /// Closes all connections. Calls and streams still under way fail.
    public func shutdown() async {
        // The one error is a second shutdown, which changes nothing.
        try? await streamClient.shutdown()
        try? await callClient.shutdown()
    }

    /// Runs `body` with a connection that is shut down when `body` returns or throws.
    public static func withConnection<Result>(
        to server: ServerAddress,
        key: String? = nil,
        database: String? = nil,
        _ body: (HearthConnection) async throws -> Result
    ) async throws -> Result {
        let connection = try HearthConnection(server: server, key: key, database: database)
        do {
            let result = try await body(connection)
            await connection.shutdown()
            return result
        } catch {
            await connection.shutdown()
            throw error
        }
    }
}

extension HearthConnection {
    /// Calls a method and returns its result.
    ///
    /// - Parameter params: Writes the members of the parameters object.
    package func call(_ method: UTF8Key, _ params: (inout JSONWriter) -> Void) async throws(StatusError) -> JSONNode {
        try await call(RPCCall(method, params))
    }

    /// Calls a method and returns its result.
    func call(_ call: RPCCall) async throws(StatusError) -> JSONNode {
        let answer = try await post(call.request(id: 0, database: database))
        return try RPCAnswer(answer.root, from: server).result.get()
    }

    /// Calls methods one after the other in a single HTTP request, and returns the outcome of each in the same order.
    func call(_ calls: [RPCCall]) async throws(StatusError) -> [Result<JSONNode, StatusError>] {
        guard !calls.isEmpty else { return [] }
        let answer = try await post(RPCCall.batch(calls, database: database))
        guard let elements = answer.root.elements, answer.root.count == calls.count else {
            // A batch that is refused as a whole is answered with one error object.
            if answer.root.kind == .object { _ = try RPCAnswer(answer.root, from: server).result.get() }
            throw StatusError.foreignAnswer(from: server)
        }
        var outcomes = [Result<JSONNode, StatusError>?](repeating: nil, count: calls.count)
        for element in elements {
            let answer = try RPCAnswer(element, from: server)
            guard let id = answer.id, outcomes.indices.contains(id), outcomes[id] == nil else {
                throw StatusError.foreignAnswer(from: server)
            }
            outcomes[id] = answer.result
        }
        return outcomes.compactMap { $0 }
    }

    private func post(_ body: [UInt8]) async throws(StatusError) -> JSONText {
        var request = request(to: "/rpc")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "Accept", value: "application/json")
        request.body = .bytes(body)
        let answer = try await read(send(request, with: callClient))
        do {
            return try JSONText(answer, limits: JSONLimits(maximumBytes: Self.maximumAnswerBytes))
        } catch {
            throw StatusError.foreignAnswer(from: server, cause: error)
        }
    }
}

extension HearthConnection {
    /// Begins a request to a path below the server's address.
    func request(to path: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: server.description + path)
        if let authorization { request.headers.add(name: "Authorization", value: authorization) }
        return request
    }

    /// Sends a request whose answer is a stream, and waits for its head, which is a success.
    ///
    /// - Throws: What the server's status and error text say, or `.unavailable` when there is no server.
    func stream(_ request: HTTPClientRequest) async throws(StatusError) -> HTTPClientResponse {
        try await send(request, with: streamClient)
    }

    private func send(_ request: HTTPClientRequest, with client: HTTPClient) async throws(StatusError) -> HTTPClientResponse {
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, timeout: timeout)
        } catch {
            throw StatusError(transport: error, server: server)
        }
        guard response.status == .ok else {
            throw StatusError(status: response.status, body: try await read(response), server: server)
        }
        return response
    }

    private func read(_ response: HTTPClientResponse) async throws(StatusError) -> [UInt8] {
        do {
            return Array(try await response.body.collect(upTo: Self.maximumAnswerBytes).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw StatusError(
                .resourceExhausted,
                "The answer is longer than \(Self.maximumAnswerBytes) bytes; ask for less at a time."
            )
        } catch {
            throw StatusError(transport: error, server: server)
        }
    }
}
