import Testing

@testable import HearthHTTP

@Suite("CIDR blocks")
struct CIDRBlockTests {
    @Test(
        arguments: [
            ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"], ["11.0.0.0", "9.255.255.255", "::10.0.0.1"]),
            ("::ffff:10.0.0.0/104", ["10.1.2.3"], ["11.0.0.1", "2001:db8::1"]),
            ("192.0.2.128/25", ["192.0.2.128", "192.0.2.255"], ["192.0.2.127", "192.0.3.128"]),
            ("192.0.2.1", ["192.0.2.1"], ["192.0.2.0"]), ("192.0.2.1/32", ["192.0.2.1"], ["192.0.2.0"]),
            ("::ffff:192.0.2.1", ["192.0.2.1"], ["192.0.2.0"]), ("0.0.0.0/0", ["1.2.3.4"], ["::1"]),
            ("2001:db8::/33", ["2001:db8:7fff::1"], ["2001:db8:8000::", "32.1.13.184"]),
            ("::1", ["::1"], ["::", "::2", "127.0.0.1"]), ("::/0", ["2001:db8::1"], ["127.0.0.1"]),
        ]
    )
    func `A block contains the addresses with its prefix`(text: String, inside: [String], outside: [String]) throws {
        let block = try #require(CIDRBlock(text))
        for address in inside { #expect(block.contains(try #require(IPAddress(address))), "\(address)") }
        for address in outside { #expect(!block.contains(try #require(IPAddress(address))), "\(address)") }
    }

    @Test(
        arguments: [
            "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.0/ 8", "10.0.0.0/٨",
            "10.0.0.0/0x8", "10.0.0.0/99999999999999999999", "10/8", "10.0.0/8", "localhost", "proxy.example.org", "::1/129",
            "[::1]", "fe80::1%lo", "127.0.0.1:80", " 127.0.0.1", "10.9.9.9/8", "192.0.2.129/25", "2001:db8::1/64",
            "::ffff:10.0.0.0/95",
        ]
    )
    func `Invalid notation is rejected`(text: String) {
        #expect(CIDRBlock(text) == nil)
    }
}
