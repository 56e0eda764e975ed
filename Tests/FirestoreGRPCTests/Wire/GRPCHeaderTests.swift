import DocumentModel
import Foundation
import HTTPTypes
import HearthHTTP
import Testing

@testable import FirestoreGRPC

@Suite("Headers and trailers of gRPC")
struct GRPCHeaderTests {
    @Test(
        arguments: [
            ("1H", .seconds(3_600)), ("2M", .seconds(120)), ("99999999S", .seconds(99_999_999)), ("1m", .milliseconds(1)),
            ("20u", .microseconds(20)), ("3n", .nanoseconds(3)), ("0S", .zero), ("99999999H", .seconds(359_999_996_400)),
        ] as [(String, Duration)]
    )
    func `A timeout has a number and a unit`(text: String, timeout: Duration) throws {
        #expect(try Duration(grpcTimeout: text) == timeout)
    }

    @Test(arguments: ["", "1", "S", "1s", "123456789S", "-1S", "+1S", "1.5S", " 1S", "1S ", "1é", "٣S"])
    func `Any other timeout is rejected`(text: String) {
        let error = #expect(throws: GRPCStatus.self) { try Duration(grpcTimeout: text) }
        #expect(error?.code == .invalidArgument)
    }

    @Test(
        arguments: [
            ("No document: a/b", "No document: a/b"), ("100 %", "100 %25"), ("é\n~\u{7F}", "%C3%A9%0A~%7F"),
            ("🐵", "%F0%9F%90%B5"),
            ("", ""),
        ]
    )
    func `A message is percent-encoded`(message: String, encoded: String) {
        #expect(GRPCStatus.percentEncoded(message) == encoded)
    }

    @Test(arguments: ["x", "é", "🐵", "%", "e\u{301}"])
    func `A long message is cut between characters`(character: String) throws {
        for prefix in 0..<5 {
            let message = String(repeating: ".", count: prefix) + String(repeating: character, count: 5_000)
            let encoded = GRPCStatus.percentEncoded(message)
            #expect((4_084...4_096).contains(encoded.utf8.count))
            let decoded = try #require(encoded.removingPercentEncoding)
            #expect(message.unicodeScalars.starts(with: decoded.unicodeScalars))
        }
    }

    @Test
    func `A status has the number of its code`() {
        #expect(GRPCStatus.ok.trailers == [.grpcStatus: "0"])
        for code in StatusCode.allCases where code != .unauthenticated {
            let error = StatusError(code, "Because.", field: "a.b")
            #expect(
                GRPCStatus(error).trailers == [.grpcStatus: "\(code.rawValue)", .grpcMessage: "Because. (field a.b)"]
            )
        }
    }

    @Test
    func `Missing credentials are reported as a missing permission`() {
        #expect(GRPCStatus(StatusError(.unauthenticated, "")).code == .permissionDenied)
        #expect(GRPCStatus(HTTPFailure(.unauthorized, .unauthenticated, "")).code == .permissionDenied)
        #expect(GRPCStatus(HTTPFailure(.tooManyRequests, .resourceExhausted, "")).code == .resourceExhausted)
    }
}
