import AsyncHTTPClient
import Cryptography
import DocumentModel
import HearthHTTP
import HearthTransport
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import PostgresStore

/// The forwarding of commits between servers that share an engine, over HTTP.
final class ServerForwarding: Sendable {
    private let host: PostgresHost
    private let address: ServerAddress
    private let secret: SymmetricKey
    private let connection: PeerConnection

    /// - Parameters:
    ///   - host: The databases in the engine.
    ///   - address: The address of this server for the others; with the port 0, the port is the one that it listens on.
    ///   - secret: The secret of the servers.
    ///   - tls: The settings of TLS for connections to the others; `nil` for those of the system.
    init(_ host: PostgresHost, at address: ServerAddress, secret: SymmetricKey, _ tls: TLSConfiguration?) {
        self.host = host
        self.address = address
        self.secret = secret
        connection = PeerConnection(secret, tls)
    }

    /// The route by which other servers forward their commits.
    var module: ForwardingModule {
        ForwardingModule(secret: secret, overloadAnswer: PostgresHost.overloadAnswer) { [host] batch in
            await host.commit(forwarded: batch)
        }
    }

    /// Begins to forward, and to accept what is forwarded.
    ///
    /// - Parameter port: The port on which the server listens.
    func start(listeningOn port: Int) {
        host.startForwarding(at: address.replacingZeroPort(with: port), connection)
    }

    /// Closes the connections to other servers.
    func shutDown() async { await connection.shutDown() }
}

/// The connections to other servers.
private struct PeerConnection: CommitForwarding {
    private let client: HTTPClient
    private let signature: PeerSignature

    /// The response does not come from a server of this engine.
    private struct UnexpectedResponse: Error {}

    /// The maximum size of an answer, which may have results of transforms.
    private static let maximumAnswerBytes = 64 << 20

    init(_ secret: SymmetricKey, _ tls: TLSConfiguration?) {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.tlsConfiguration = tls
        configuration.timeout = .init(connect: .seconds(1), read: .seconds(10))
        configuration.httpVersion = .http1Only
        // A server that cannot be reached must not delay the commits.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
        signature = PeerSignature(secret: secret)
    }

    func forward(_ batch: [UInt8], to address: String, within limit: Duration) async throws -> [UInt8] {
        var request = HTTPClientRequest(url: address + ForwardingModule.path)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: ForwardingModule.signatureField, value: signature.requestField(for: batch))
        request.body = .bytes(batch)
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, timeout: TimeAmount(limit))
        } catch {
            guard Self.isOfConnecting(error) else { throw error }
            throw PeerNotReached()
        }
        guard response.status == .ok, let field = response.headers.first(name: ForwardingModule.signatureField) else {
            throw UnexpectedResponse()
        }
        let answer = Array(try await response.body.collect(upTo: Self.maximumAnswerBytes).readableBytesView)
        guard signature.isValid(responseField: field, for: answer, to: batch) else { throw UnexpectedResponse() }
        return answer
    }

    /// Returns whether an error is one of making a connection, before anything is sent.
    private static func isOfConnecting(_ error: any Error) -> Bool {
        if error is NIOConnectionError || error is NIOSSLExtraError { return true }
        if case .handshakeFailed? = error as? NIOSSLError { return true }
        return [.connectTimeout, .tlsHandshakeTimeout].contains(error as? HTTPClientError)
    }

    func shutDown() async {
        // The only possible error is that of a repeated shutdown.
        try? await client.shutdown()
    }
}

extension ServerAddress {
    /// The host, as in the field `Host`.
    var host: String {
        let authority = description.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2).prefix { $0 != UInt8(ascii: "/") }
        let end = authority.last == UInt8(ascii: "]") ? nil : authority.lastIndex(of: UInt8(ascii: ":"))
        return String(decoding: authority[..<(end ?? authority.endIndex)], as: UTF8.self)
    }

    /// The text of the address, with a port in place of the port 0.
    func replacingZeroPort(with port: Int) -> String {
        description.hasSuffix(":0") ? "\(description.dropLast(1))\(port)" : description
    }
}
