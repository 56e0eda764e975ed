import DocumentModel
import Testing

@testable import HearthServer

/// Who may reach a server that has no keys.
@Suite("A server without keys")
struct KeylessServerTests {
    @Test("is for this machine only", arguments: ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
    func loopback(host: String) throws {
        var configuration = HearthServerConfiguration()
        configuration.host = host
        try configuration.checkHost(hasKeys: false)
        try configuration.checkProxies(hasKeys: false)
        configuration.trustedProxies = [try #require(AddressRange("127.0.0.1"))]
        let error = #expect(throws: StatusError.self) { try configuration.checkProxies(hasKeys: false) }
        #expect(error?.message.contains("--trusted-proxy") == true)
        try configuration.checkProxies(hasKeys: true)
    }

    @Test("does not listen for others", arguments: ["0.0.0.0", "::", "192.0.2.1", "data.example.org"])
    func others(host: String) throws {
        var configuration = HearthServerConfiguration()
        configuration.host = host
        let error = #expect(throws: StatusError.self) { try configuration.checkHost(hasKeys: false) }
        #expect(error?.code == .failedPrecondition)
        try configuration.checkHost(hasKeys: true)
    }
}
