import DocumentModel
import HearthHTTP
import NIOCore
import ServerTestSupport
import TestSupport
import Testing

@Suite("TLS handshakes", .timeLimit(.minutes(10)))
struct HandshakeTests {
    private static func configuration(headTimeout: Duration = .seconds(60)) throws -> HTTPServerConfiguration {
        let certificate = try TestCertificate()
        var configuration = HTTPServerConfiguration.standard
        configuration.certificate = try ServerCertificate(
            ServerCertificateContent(chain: certificate.chain, key: certificate.key)
        )
        configuration.headTimeout = headTimeout
        return configuration
    }

    @Test(arguments: [[], [0x16, 0x03, 0x01, 0x02, 0x00, 0x01]] as [[UInt8]])
    func `A handshake that is not completed in time is cut off`(bytes: [UInt8]) async throws {
        try await withServer(Self.configuration(headTimeout: .milliseconds(300))) { server in
            let received = try await withConnection(to: server) { connection in
                try await connection.send(bytes)
                return try await connection.receiveAll()
            }
            #expect(received == "")
        }
    }

    @Test func `A client without TLS is told to use it`() async throws {
        try await withServer(Self.configuration()) { server in
            let response = try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/health"))
                return try await connection.receiveAll()
            }
            #expect(response.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            #expect(response.hasSuffix("This port requires TLS. Use https:// instead of http://.\n"))
        }
    }

    @Test func `No bytes end the server`() async throws {
        try await withServer(Self.configuration()) { server in
            var generator = SeededGenerator()
            for length in [1, 5, 6, 100, 20_000] {
                for first in [0x16, 0x15, 0x17, 0x80, 0x00] as [UInt8] {
                    let bytes = [first] + (1..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
                    _ = try? await withConnection(to: server) { connection in
                        try await connection.send(bytes)
                        connection.finishSending()
                        return try await connection.receiveAll()
                    }
                }
            }
            let response = try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/health"))
                return try await connection.receiveAll()
            }
            #expect(response.hasPrefix("HTTP/1.1 400 "))
        }
    }

    @Test func `A handshake of a byte now and then is cut off in time`() async throws {
        try await withServer(Self.configuration(headTimeout: .milliseconds(500))) { server in
            // The beginning of a record of 512 bytes, which takes at least 51 s.
            let record = [0x16, 0x03, 0x01, 0x02, 0x00] + [UInt8](repeating: 1, count: 512)
            let (received, sentCount) = try await withConnection(to: server) { connection in
                let outbound = connection.outbound
                async let sentCount: Int = {
                    for (index, byte) in record.enumerated() {
                        guard (try? await outbound.write(ByteBuffer(bytes: [byte]))) != nil else { return index }
                        guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { return index }
                    }
                    return record.count
                }()
                let received = try? await connection.receiveAll()
                return (received ?? "", await sentCount)
            }
            #expect(received == "")
            #expect(sentCount < record.count)
        }
    }
}
