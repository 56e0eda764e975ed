import DocumentModel
import Testing

@testable import HearthHTTP

@Suite("Server configuration")
struct HTTPServerConfigurationTests {
    @Test(
        arguments: ["127.0.0.1", "127.9.9.9", "::1", "localhost"]
    )
    func `A server without keys may listen on loopback, but not behind a proxy`(host: String) throws {
        var configuration = HTTPServerConfiguration()
        configuration.host = host
        try configuration.checkHost(hasKeys: false)
        try configuration.checkProxies(hasKeys: false)
        configuration.trustedProxies = [try #require(CIDRBlock("127.0.0.1"))]
        let error = #expect(throws: StatusError.self) { try configuration.checkProxies(hasKeys: false) }
        #expect(error?.message.contains("--trusted-proxy") == true)
        try configuration.checkProxies(hasKeys: true)
    }

    @Test(
        arguments: ["0.0.0.0", "::", "192.0.2.1", "data.example.org"]
    )
    func `A server without keys does not listen on other addresses`(host: String) throws {
        var configuration = HTTPServerConfiguration()
        configuration.host = host
        let error = #expect(throws: StatusError.self) { try configuration.checkHost(hasKeys: false) }
        #expect(error?.code == .failedPrecondition)
        try configuration.checkHost(hasKeys: true)
    }
}
