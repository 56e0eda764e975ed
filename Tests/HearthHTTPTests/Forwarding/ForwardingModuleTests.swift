import Cryptography
import DocumentModel
import HearthAPI
import HearthHTTP
import ServerTestSupport
import Synchronization
import Testing

/// The route by which servers of an engine forward commits to each other.
@Suite(.timeLimit(.minutes(10))) struct ForwardingModuleTests {
    private static let secret = SymmetricKey.random()

    /// Calls `body` with a server that answers each batch with its length, and refuses those that begin with an `x`.
    private func withModule(
        _ configuration: HTTPServerConfiguration = .standard,
        _ body: @Sendable (InProcessServer, _ batchCount: @Sendable () -> Int) async throws -> Void
    ) async throws {
        let count = Mutex(0)
        let module = ForwardingModule(secret: Self.secret, overloadAnswer: Array("overload".utf8)) { batch in
            count.withLock { $0 += 1 }
            guard batch.first != UInt8(ascii: "x") else { return .failure(StatusError(.invalidArgument, "no batch")) }
            return .success(Array("\(batch.count)".utf8))
        }
        try await withServer(configuration, modules: [module]) { server in try await body(server) { count.withLock { $0 } } }
    }

    private func post(
        _ body: String,
        _ signature: String?,
        to server: InProcessServer,
        key: String? = nil
    ) async throws -> RawResponse {
        let fields = [
            "Content-Type: application/json", signature.map { "\(ForwardingModule.signatureField): \($0)" },
            key.map { "Authorization: Bearer \($0)" },
        ].compactMap(\.self)
        return try await withConnection(to: server) { try await $0.send("POST", ForwardingModule.path, fields, body: body) }
    }

    @Test
    func `A batch with the secret of the servers is answered, with a proof of the answer`() async throws {
        try await withModule { server, batchCount in
            let signature = PeerSignature(secret: Self.secret)
            let response = try await post("batch", signature.requestField(for: Array("batch".utf8)), to: server)
            #expect(response.status == 200 && response.body == "5" && batchCount() == 1)
            let field = try #require(response[ForwardingModule.signatureField.lowercased()])
            #expect(signature.isValid(responseField: field, for: Array("5".utf8), to: Array("batch".utf8)))
            #expect(!signature.isValid(responseField: field, for: Array("6".utf8), to: Array("batch".utf8)))
            #expect(!signature.isValid(responseField: field, for: Array("5".utf8), to: Array("other".utf8)))
        }
    }

    @Test
    func `Requests without the secret, and with another body than the signed one, are refused`() async throws {
        try await withModule { server, batchCount in
            let body = Array("batch".utf8)
            let signature = PeerSignature(secret: Self.secret)
            let (other, valid) = (PeerSignature(secret: .random()).requestField(for: body), signature.requestField(for: body))
            // Nor does a key help.
            let key = try await server.context.keys.create(.init(role: .admin)).text
            for field in [nil, "", "AAAA", other, String(valid.dropLast()), valid.uppercased()] {
                #expect(try await post("batch", field, to: server, key: key).status == 403, "\(field ?? "none")")
            }
            #expect(try await post("Batch", valid, to: server).status == 403)
            let get = try await withConnection(to: server) { try await $0.send("GET", ForwardingModule.path) }
            #expect(get.status == 405 && batchCount() == 0)
        }
    }

    @Test
    func `A body that is too large or no batch is refused`() async throws {
        try await withModule { server, batchCount in
            let signature = PeerSignature(secret: Self.secret)
            let invalid = try await post("x", signature.requestField(for: Array("x".utf8)), to: server)
            #expect(invalid.status == 400)
            let large = String(repeating: "a", count: ForwardingModule.maximumBytes + 1)
            let response = try await post(large, signature.requestField(for: Array(large.utf8)), to: server)
            #expect(response.status == 413 && batchCount() == 1)
        }
    }

    @Test
    func `A batch for which there is no memory has an answer, by which its server makes the commits`() async throws {
        try await withModule(.standard.with(\.maximumBufferedBodyBytes, 400_000)) { server, batchCount in
            let signature = PeerSignature(secret: Self.secret)
            let large = String(repeating: "a", count: 500_000)
            let response = try await post(large, signature.requestField(for: Array(large.utf8)), to: server)
            #expect(response.status == 200 && response.body == "overload" && batchCount() == 0)
            let field = try #require(response[ForwardingModule.signatureField.lowercased()])
            #expect(signature.isValid(responseField: field, for: Array("overload".utf8), to: Array(large.utf8)))
            // Its memory is free again.
            let next = try await post("batch", signature.requestField(for: Array("batch".utf8)), to: server)
            #expect(next.status == 200 && next.body == "5" && batchCount() == 1)
        }
    }

    @Test
    func `A server without an address for others has no such route`() async throws {
        try await withServer { server in
            let response = try await post("batch", nil, to: server)
            #expect(response.status == 404)
        }
    }
}
