internal import AsyncHTTPClient
internal import Concurrency
public import DocumentModel
internal import NIOCore
internal import NIOHTTP1
package import NIOSSL
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
    /// The API key; `nil` for none.
    private let key: BearerToken?
    /// The ID tokens of the signed-in user; `nil` without them.
    private let tokens: IDTokenCache?
    /// The maximum time to wait for the head of a response.
    private let timeout: TimeAmount
    /// The time for which a commit without an answer is sent again.
    let resendTimeout: Duration
    /// The configuration of TLS; `nil` for the default.
    private let tls: TLSConfiguration?
    /// The client for calls, with a small pool of connections.
    private let callClient: HTTPClient
    /// The client for streams, each of which occupies a connection, so that calls don't have to wait for one.
    private let streamClient: Mutex<StreamClient>

    private struct StreamClient {
        var client: HTTPClient
        var isShutDown = false
    }

    /// True after the first successful response.
    private let hasSucceeded = Atomic(false)

    /// Combines concurrent reads of single documents.
    let readBatcher = ReadBatcher<DocumentPath, DocumentAnswer, StatusError>(
        limits: .init(requestCount: maximumCallConnections, readCount: 100)
    ) { _ in
        StatusError(.cancelled, "The call was cancelled.")
    }

    /// The identities of the commits.
    let identities = CommitIdentityPool(maximumCount: maximumCallConnections)

    /// The calls that may be sent again.
    package let retryBudget = RetryBudget()

    /// The maximum number of concurrent calls; additional calls are queued.
    private static let maximumCallConnections = 8
    /// The maximum size of a response body.
    private static let maximumResponseBytes = 64 << 20
    /// The maximum time between two reads of a stream; longer than the longest heartbeat interval of a server.
    private static let readTimeout = TimeAmount.seconds(75)

    /// Creates a connection. Nothing is sent before the first call.
    ///
    /// - Parameters:
    ///   - timeout: The maximum time to wait for the head of a response.
    ///   - resendTimeout: The time for which a commit is sent again whose answer was lost, for example because the server was restarted. The
    ///     server applies it once.
    ///   - certificateAuthorities: Certificates in PEM format that are trusted beside those of the system, for `https`.
    ///   - clientCertificate: The certificate that is presented to servers that ask for one.
    /// - Throws: `.invalidArgument` if `key` contains characters that are invalid in an API key, or there are no certificates in
    ///   `certificateAuthorities`, or `clientCertificate` cannot be used.
    public convenience init(
        server: ServerAddress,
        key: String? = nil,
        database: String? = nil,
        timeout: Duration = .seconds(60),
        resendTimeout: Duration = .seconds(15),
        certificateAuthorities: [UInt8]? = nil,
        clientCertificate: ClientCertificate? = nil
    ) throws(StatusError) {
        try self.init(
            server: server,
            credential: key.map { .key($0) },
            database: database,
            timeout: timeout,
            resendTimeout: resendTimeout,
            certificateAuthorities: certificateAuthorities,
            clientCertificate: clientCertificate
        )
    }

    /// Creates a connection with a credential. Nothing is sent before the first call.
    ///
    /// - Parameters:
    ///   - timeout: The maximum time to wait for the head of a response.
    ///   - resendTimeout: The time for which a commit is sent again whose answer was lost, for example because the server was restarted. The
    ///     server applies it once.
    ///   - certificateAuthorities: Certificates in PEM format that are trusted beside those of the system, for `https`.
    ///   - clientCertificate: The certificate that is presented to servers that ask for one.
    /// - Throws: `.invalidArgument` if the credential is a key with characters that are invalid in an API key, or there are no
    ///   certificates in `certificateAuthorities`, or `clientCertificate` cannot be used.
    public init(
        server: ServerAddress,
        credential: FirestoreCredential?,
        database: String? = nil,
        timeout: Duration = .seconds(60),
        resendTimeout: Duration = .seconds(15),
        certificateAuthorities: [UInt8]? = nil,
        clientCertificate: ClientCertificate? = nil
    ) throws(StatusError) {
        let tls = try Self.tlsConfiguration(trusting: certificateAuthorities, presenting: clientCertificate)
        switch credential?.kind {
        case .key(let key)?:
            guard let key = BearerToken(key) else {
                throw StatusError(
                    .invalidArgument,
                    "Invalid API key: expected printable ASCII characters without spaces."
                )
            }
            self.key = key
            tokens = nil
        case .idToken(let provider)?:
            key = nil
            tokens = IDTokenCache(provider)
        case nil:
            key = nil
            tokens = nil
        }
        self.server = server
        self.database = database
        self.timeout = TimeAmount(timeout)
        self.resendTimeout = resendTimeout
        self.tls = tls
        self.callClient = Self.client(maximumConnections: Self.maximumCallConnections, tls)
        self.streamClient = Mutex(StreamClient(client: Self.client(maximumConnections: .max, tls)))
    }

    /// True if calls of the task that the server refuses for a time are sent again, however long that takes: for long work of many
    /// calls.
    @TaskLocal package static var repeatsRefusedCalls = false

    /// Returns the settings of TLS; `nil` for those of the system.
    ///
    /// - Parameter authorities: Certificates in PEM format that are trusted beside those of the system.
    /// - Throws: `.invalidArgument` if there are no certificates in `authorities`, or `clientCertificate` cannot be used.
    package static func tlsConfiguration(
        trusting authorities: [UInt8]?,
        presenting clientCertificate: ClientCertificate? = nil
    ) throws(StatusError) -> TLSConfiguration? {
        guard authorities != nil || clientCertificate != nil else { return nil }
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let authorities {
            guard let certificates = try? NIOSSLCertificate.fromPEMBytes(authorities), !certificates.isEmpty else {
                throw StatusError(
                    .invalidArgument,
                    "Expected certificates of authorities in PEM format, which begin with -----BEGIN CERTIFICATE-----."
                )
            }
            configuration.additionalTrustRoots = [.certificates(certificates)]
        }
        try clientCertificate?.apply(to: &configuration)
        return configuration
    }

    private static func client(maximumConnections: Int, _ tls: TLSConfiguration?) -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.tlsConfiguration = tls
        configuration.timeout = .init(connect: .seconds(10), read: readTimeout)
        configuration.httpVersion = .http1Only
        // Reports a refused connection immediately instead of retrying for ten seconds.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = maximumConnections
        return HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }

    /// Closes all connections. Pending calls and streams fail.
    public func shutdown() async {
        tokens?.close()
        let streamClient = streamClient.withLock { streamClient in
            streamClient.isShutDown = true
            return streamClient.client
        }
        // The only possible error is that of a repeated shutdown, which has no effect.
        try? await streamClient.shutdown()
        try? await callClient.shutdown()
    }

    /// Discards the ID token, since another user has signed in, the user has signed out, or the claims of the token have changed.
    ///
    /// Open streams are interrupted. Calls that start afterward are made for the new user. It has no effect with an API key.
    public func credentialDidChange() {
        guard let tokens else { return }
        // Before the client is replaced, so that no stream with a token of the previous user is opened by the new client.
        tokens.credentialDidChange()
        let previous: HTTPClient? = streamClient.withLock { streamClient in
            guard !streamClient.isShutDown else { return nil }
            defer { streamClient.client = Self.client(maximumConnections: .max, tls) }
            return streamClient.client
        }
        guard let previous else { return }
        // An unstructured task, since the caller need not wait for the sockets to be closed.
        Task { try? await previous.shutdown() }
    }

    /// The current user; `nil` without ID tokens.
    package var user: IDTokenCache.User? { tokens?.user }

    /// Returns the current user, and from then on tells users apart, also before a token was needed; `nil` without ID tokens.
    package func establishUser() -> IDTokenCache.User? { tokens?.establishUser() }

    /// The next change of the user; `nil` without ID tokens.
    package var userChange: OneTimeEvent? { tokens?.userChange }

    /// Calls `body` with a connection that is shut down when `body` returns or throws.
    public static func withConnection<Result>(
        to server: ServerAddress,
        key: String? = nil,
        database: String? = nil,
        certificateAuthorities: [UInt8]? = nil,
        clientCertificate: ClientCertificate? = nil,
        _ body: (HearthConnection) async throws -> Result
    ) async throws -> Result {
        let connection = try HearthConnection(
            server: server,
            key: key,
            database: database,
            certificateAuthorities: certificateAuthorities,
            clientCertificate: clientCertificate
        )
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
    ///
    /// - Parameter user: The user for whom the call is made; `nil` if it can be made for any user.
    package func call(_ call: RPCCall, for user: IDTokenCache.User? = nil) async throws(StatusError) -> JSONNode {
        let body = call.request(id: 0, database: database)
        return try await authorized(for: user) { authorization throws(StatusError) in
            let response = try await post(body, authorization)
            let result = try RPCResponse(response.root, from: server).result.get()
            retryBudget.recordSuccess()
            return result
        }
    }

    /// Calls methods in a single batch request and returns their results in the same order.
    ///
    /// - Parameter user: The user for whom the calls are made; `nil` if they can be made for any user.
    package func call(
        _ calls: [RPCCall],
        for user: IDTokenCache.User? = nil
    ) async throws(StatusError) -> [Result<JSONNode, StatusError>] {
        guard !calls.isEmpty else { return [] }
        let body = RPCCall.batch(calls, database: database)
        return try await authorized(for: user) { authorization throws(StatusError) in
            let results = try results(of: calls.count, in: await post(body, authorization))
            for case .failure(let error) in results where error.code == .unauthenticated { throw error }
            return results
        }
    }

    /// Returns the results of the calls of a batch request, in the order of the calls.
    private func results(of count: Int, in batch: JSONText) throws(StatusError) -> [Result<JSONNode, StatusError>] {
        guard let elements = batch.root.elements, batch.root.count == count else {
            // The response to a batch that is rejected as a whole is a single error object.
            if batch.root.kind == .object { _ = try RPCResponse(batch.root, from: server).result.get() }
            throw StatusError.unexpectedResponse(from: server)
        }
        var results = [Result<JSONNode, StatusError>?](repeating: nil, count: count)
        for element in elements {
            let response = try RPCResponse(element, from: server)
            guard let id = response.id, results.indices.contains(id), results[id] == nil else {
                throw StatusError.unexpectedResponse(from: server)
            }
            results[id] = response.result
        }
        return results.compactMap { $0 }
    }

    /// Requests a page or file of the server, such as `/metrics`.
    ///
    /// - Parameter path: The path, with a query if there is one.
    package func contents(at path: String) async throws(StatusError) -> [UInt8] {
        try await authorized { authorization throws(StatusError) in
            try await read(send(request(to: path, authorization), with: callClient, until: authorization.deadline))
        }
    }

    private func post(_ body: [UInt8], _ authorization: Authorization) async throws(StatusError) -> JSONText {
        var request = request(to: "/rpc", authorization)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "Accept", value: "application/json")
        request.body = .bytes(body)
        let body = try await read(send(request, with: callClient, until: authorization.deadline))
        do {
            return try JSONText(body, limits: JSONLimits(maximumBytes: Self.maximumResponseBytes))
        } catch {
            throw StatusError.unexpectedResponse(from: server, cause: error)
        }
    }
}

extension HearthConnection {
    /// The key or token of a request.
    struct Authorization: Sendable {
        /// The key or token; `nil` for a request without either.
        fileprivate let bearer: BearerToken?
        /// The ID token; `nil` without one.
        let token: IDToken?
        /// The time by which the server must have responded.
        fileprivate let deadline: NIODeadline
    }

    /// Sends a request, and again with a new ID token if the server refuses the first one.
    ///
    /// - Parameters:
    ///   - user: The user for whom the request is made; `nil` if it can be made for any user.
    ///   - send: Sends the request. It has had no effect if it throws `.unauthenticated`.
    func authorized<Result>(
        for user: IDTokenCache.User? = nil,
        _ send: (Authorization) async throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        while true {
            do throws(StatusError) {
                return try await authorizedOnce(for: user, send)
            } catch {
                guard Self.repeatsRefusedCalls, error.isExecuted == false, let delay = error.retryAfter,
                    (try? await Task.sleep(for: delay)) != nil
                else { throw error }
            }
        }
    }

    private func authorizedOnce<Result>(
        for user: IDTokenCache.User?,
        _ send: (Authorization) async throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        let deadline = NIODeadline.now() + timeout
        guard let tokens else { return try await send(Authorization(bearer: key, token: nil, deadline: deadline)) }
        let tokenDeadline = ContinuousClock.now + .nanoseconds(timeout.nanoseconds)
        var isRetry = false
        while true {
            let token = try await tokens.token(for: user, until: tokenDeadline)
            do throws(StatusError) {
                return try await send(Authorization(bearer: token.bearer, token: token, deadline: deadline))
            } catch {
                guard error.code == .unauthenticated else { throw error }
                tokens.refuse(token)
                if isRetry { throw error }
                isRetry = true
            }
        }
    }

    /// Discards an ID token that the server has refused.
    package func refuse(_ token: IDToken) {
        tokens?.refuse(token)
    }

    /// Creates a request for a path relative to the server's address.
    func request(to path: String, _ authorization: Authorization) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: server.description + path)
        if let bearer = authorization.bearer { request.headers.add(name: "Authorization", value: "Bearer \(bearer.text)") }
        return request
    }

    /// Sends a request for a stream and waits for the head of the response.
    ///
    /// - Throws: The server's error if the status is not success, or `.unavailable` if the server cannot be reached.
    func stream(_ request: HTTPClientRequest, _ authorization: Authorization) async throws(StatusError) -> HTTPClientResponse {
        let client = streamClient.withLock(\.client)
        guard authorization.token?.userChange.hasOccurred != true else {
            throw StatusError(.unavailable, "The user has changed while the stream was being opened.")
        }
        return try await send(request, with: client, until: authorization.deadline)
    }

    private func send(
        _ request: HTTPClientRequest,
        with client: HTTPClient,
        until deadline: NIODeadline
    ) async throws(StatusError) -> HTTPClientResponse {
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, deadline: deadline)
        } catch {
            throw StatusError(transport: error, server: server, hasSucceeded: hasSucceeded.load(ordering: .relaxed))
        }
        guard response.status == .ok else {
            throw StatusError(
                status: response.status,
                body: try await read(response),
                retryAfter: response.headers.first(name: "Retry-After"),
                server: server
            )
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
