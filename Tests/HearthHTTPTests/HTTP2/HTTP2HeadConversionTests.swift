import HTTPTypes
import NIOHPACK
import Testing

@testable import HearthHTTP

/// Heads between HTTP types and HTTP/2.
struct HTTP2HeadConversionTests {
    @Test
    func `Only fields with few values enter the table, whose size the client chooses`() {
        let fields: HTTPFields = [.contentType: "text/plain", .date: "Tue, 24 Nov 2026 03:24:13 GMT", .eTag: "\"1\""]
        let list = Array(HPACKHeaders(HTTPResponse(status: .ok, headerFields: fields))) + HPACKHeaders(trailers: fields)
        #expect(list.filter { $0.indexable == .indexable }.map(\.name) == [":status", "content-type", "content-type"])
    }

    @Test
    func `Fields of a connection are left out`() {
        let fields: HTTPFields = [.connection: "close", .transferEncoding: "chunked", .vary: "Origin"]
        #expect(HPACKHeaders(HTTPResponse(status: .ok, headerFields: fields)).map(\.name) == [":status", "vary"])
    }
}
