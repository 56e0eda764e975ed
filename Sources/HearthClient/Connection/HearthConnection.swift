internal import AsyncHTTPClient
public import DocumentModel
internal import NIOCore
internal import NIOHTTP1
package import StrictJSON
internal import Synchronization
package import UTF8Text

/// A JSON-RPC client for a Hearth server, over HTTP/1.1 connections that are kept alive between calls.
///
/// Any number of tasks can use it concurrently. All errors are `StatusError`s: server errors have the server's code, message and
/// location; connection errors have the code `.unavailable`, timeouts `.deadlineExceeded`, and cancelled calls `.cancelled`. Call
/// ``shutdown()`` to close the connections, or use ``withConnection(to:key:database:_:)``.
public final class HearthConnection: Sendable {
    /// The address of the server.
    public let server: ServerAddress
    /// The database, as `project/database`, or just `database` for one in the server's default project; `nil` for the default
    /// database.
    public let database: String?
    private let authorization: String?
    /// The maximum time to wait for the head of a response.
    private let timeout: TimeAmount
    /// The client for calls, with a small pool of connections.
    private let callClient: HTTPClient
    /// The client for streams, each of which occupies a connection, so that calls don't have to wait for one.
    private let streamClient: HTTPClient

    /// True after the first successful response.
    private let hasSucceeded = Atomic(false)

    /// Combines concurrent reads of single documents.
    let readBatcher = DocumentReadBatcher(maximumRequests: maximumCallConnections)

    /// The maximum number of concurrent calls; additional calls are queued.
    private static let maximumCallConnections = 8
    /// The maximum size of a response body.
    private static let maximumResponseBytes = 64 << 20
    /// The maximum time between two reads of a stream; longer than the longest heartbeat interval of a server.
    private static let readTimeout = TimeAmount.seconds(75)

    /// Creates a connection. Nothing is sent before the first call.
    ///
    /// - Parameter timeout: The maximum time to wait for the head of a response.
    /// - Throws: `.invalidArgument` if `key` contains characters that are invalid in an API key.
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
                    "Invalid API key: expected printable ASCII characters without spaces."
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
        configuration.timeout = .init(connect: .seconds(10), read: readTimeout)
        configuration.httpVersion = .http1Only
        // Reports a refused connection immediately instead of retrying for ten seconds.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = maximumConnections
        return HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }

    /// Closes all connections. Pending calls and streams fail.
    public func shutdown() async {
        // The only possible error is that of a repeated shutdown, which has no effect.
        try? await streamClient.shutdown()
        try? await callClient.shutdown()
    }

    /// Calls `body` with a connection that is shut down when `body` returns or throws.
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
        let response = try await post(call.request(id: 0, database: database))
        return try RPCResponse(response.root, from: server).result.get()
    }

    /// Calls methods in a single batch request and returns their results in the same order.
    func call(_ calls: [RPCCall]) async throws(StatusError) -> [Result<JSONNode, StatusError>] {
        guard !calls.isEmpty else { return [] }
        let batch = try await post(RPCCall.batch(calls, database: database))
        guard let elements = batch.root.elements, batch.root.count == calls.count else {
            // The response to a batch that is rejected as a whole is a single error object.
            if batch.root.kind == .object { _ = try RPCResponse(batch.root, from: server).result.get() }
            throw StatusError.unexpectedResponse(from: server)
        }
        var results = [Result<JSONNode, StatusError>?](repeating: nil, count: calls.count)
        for element in elements {
            let response = try RPCResponse(element, from: server)
            guard let id = response.id, results.indices.contains(id), results[id] == nil else {
                throw StatusError.unexpectedResponse(from: server)
            }
            results[id] = response.result
        }
        return results.compactMap { $0 }
    }

    private func post(_ body: [UInt8]) async throws(StatusError) -> JSONText {
        var request = request(to: "/rpc")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "Accept", value: "application/json")
        request.body = .bytes(body)
        let body = try await read(send(request, with: callClient))
        do {
            return try JSONText(body, limits: JSONLimits(maximumBytes: Self.maximumResponseBytes))
        } catch {
            throw StatusError.unexpectedResponse(from: server, cause: error)
        }
    }
}

extension HearthConnection {
    /// Creates a request for a path relative to the server's address.
    func request(to path: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: server.description + path)
        if let authorization { request.headers.add(name: "Authorization", value: authorization) }
        return request
    }

    /// Sends a request for a stream and waits for the head of the response.
    ///
    /// - Throws: The server's error if the status is not success, or `.unavailable` if the server cannot be reached.
    func stream(_ request: HTTPClientRequest) async throws(StatusError) -> HTTPClientResponse {
        try await send(request, with: streamClient)
    }

    private func send(_ request: HTTPClientRequest, with client: HTTPClient) async throws(StatusError) -> HTTPClientResponse {
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, timeout: timeout)
        } catch {
            throw StatusError(transport: error, server: server, hasSucceeded: hasSucceeded.load(ordering: .relaxed))
        }
        guard response.status == .ok else {
            throw StatusError(status: response.status, body: try await read(response), server: server)
        }
        hasSucceeded.store(true, ordering: .relaxed)
        return response
    }

    private func read(_ response: HTTPClientResponse) async throws(StatusError) -> [UInt8] {
        do {
            return Array(try await response.body.collect(upTo: Self.maximumResponseBytes).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw StatusError(
                .resourceExhausted,
                "The response is larger than \(Self.maximumResponseBytes) bytes. Request less data at a time."
            )
        } catch {
            throw StatusError(transport: error, server: server, hasSucceeded: hasSucceeded.load(ordering: .relaxed))
        }
    }
}
