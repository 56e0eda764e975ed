import DocumentModel
import Foundation
import HearthTransport
import Testing
import TransportTestSupport

@Suite("TLS at one end only", .timeLimit(.minutes(10)))
struct TLSFailureTests {
    /// Returns the error of a call to a server that answers the first bytes of a connection with `response`, and then closes it.
    ///
    /// - Parameter first: The response to an earlier call.
    private func error(scheme: String, first: [UInt8]? = nil, response: [UInt8]) async throws -> StatusError? {
        let listener = try LoopbackListener()
        defer { withExtendedLifetime(listener) {} }
        let descriptor = listener.descriptor
        Thread.detachNewThread {
            var first = first
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                var bytes = [UInt8](repeating: 0, count: 65_536)
                _ = read(connection, &bytes, bytes.count)
                _ = (first ?? response).withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                shutdown(connection, Int32(SHUT_WR))
                while read(connection, &bytes, bytes.count) > 0 {}
                close(connection)
                first = nil
            }
        }
        let server = try ServerAddress("\(scheme)://127.0.0.1:\(listener.port)")
        return await #expect(throws: StatusError.self) {
            try await HearthConnection.withConnection(to: server) { connection in
                if first != nil { _ = try? await connection.serverInformation() }
                _ = try await connection.serverInformation()
            }
        }
    }

    @Test func `An https URL of a server without TLS is reported as such`() async throws {
        let answer = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let error = try await error(scheme: "https", response: Array(answer.utf8))
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("Cannot establish a TLS connection to https://127.0.0.1:") == true)
        #expect(error?.message.contains("does not use TLS at this port. Use an http URL") == true)
    }

    @Test(arguments: [[], [0x15, 3, 3, 0, 2, 2, 40]] as [[UInt8]])
    func `A failed TLS handshake is reported as such`(response: [UInt8]) async throws {
        let error = try await error(scheme: "https", response: response)
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("Cannot establish a TLS connection to https://127.0.0.1:") == true)
        #expect(error?.message.contains("handshake failed") == true)
    }

    // Nothing, or the alert "unexpected message".
    @Test(arguments: [[], [0x15, 3, 3, 0, 2, 2, 10]] as [[UInt8]])
    func `An http URL of a server with TLS is reported as such`(response: [UInt8]) async throws {
        let error = try await error(scheme: "http", response: response)
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("use an https URL") == true)
    }

    @Test func `A server that has responded before is not taken for one with TLS`() async throws {
        let body = #"{"jsonrpc":"2.0","id":0,"result":{}}"#
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n" + body
        let error = try await error(scheme: "http", first: Array(answer.utf8), response: [])
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("closed the connection before responding") == true)
        #expect(error?.message.contains("TLS") == false)
    }

    @Test(arguments: ["http", "https"])
    func `A refused connection is not reported as a TLS failure`(scheme: String) async throws {
        // Port 1 is reserved and not in use.
        let server = try ServerAddress("\(scheme)://127.0.0.1:1")
        let error = await #expect(throws: StatusError.self) {
            try await HearthConnection.withConnection(to: server) { _ = try await $0.serverInformation() }
        }
        #expect(error?.message.contains("Is `hearth serve` running") == true)
    }
}
