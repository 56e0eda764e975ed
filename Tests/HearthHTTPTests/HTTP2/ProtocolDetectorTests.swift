import Testing

@testable import HearthHTTP

/// The detection of the protocol by the first bytes of a connection.
@Suite struct ProtocolDetectorTests {
    @Test(arguments: 0...24)
    func `HTTP/2 is detected at the end of its preface, however it is cut`(length: Int) {
        var detector = ProtocolDetector()
        let first = detector.receive(ProtocolDetector.preface[..<length])
        #expect(first == (length == 24 ? .http2 : nil))
        if length < 24 { #expect(detector.receive(ProtocolDetector.preface[length...] + [0]) == .http2) }
    }

    @Test(arguments: 0..<24)
    func `HTTP/1 is detected at the first byte that differs`(position: Int) {
        for byte in [UInt8(0), UInt8(ascii: "O"), UInt8(ascii: " "), 255] where byte != ProtocolDetector.preface[position] {
            var detector = ProtocolDetector()
            #expect(detector.receive(ProtocolDetector.preface[..<position]) == nil)
            #expect(detector.receive([byte]) == .http1)
        }
    }

    @Test(arguments: ["GET / HTTP/1.1", "PUT / HTTP/1.1", "POST / HTTP/1.1", "PRI /", "\r\nPRI", "PRI * HTTP/2.0\r\n\r\nGET"])
    func `Requests of HTTP/1 are detected`(text: String) {
        var detector = ProtocolDetector()
        #expect(detector.receive(text.utf8) == .http1)
    }
}
