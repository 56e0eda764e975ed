import Foundation
import Testing
import TransportTestSupport

@testable import HearthTransport

@Suite("ID token")
struct IDTokenTests {
    private static let start = Date(timeIntervalSince1970: 1_000_000)

    @Test(
        arguments: [
            (unsignedToken(#"{"exp":1000600}"#), 600), (unsignedToken(#"{"sub":"å?>~","exp":1000600.5}"#), 600.5),
            (unsignedToken("{}"), nil), (unsignedToken(#"{"exp":"1000600"}"#), nil), (unsignedToken("[]"), nil),
            (unsignedToken("{"), nil), ("opaque", nil), ("a.b", nil), ("a.!.c", nil), ("..", nil),
            (unsignedToken(#"{"exp":1000600}"#).replacing("=", with: "") + "x", 600),
        ] as [(String, Double?)]
    )
    func `The expiration time is read leniently`(token: String, expected: Double?) {
        #expect(IDToken.expirationTime(of: token)?.timeIntervalSince(Self.start) == expected)
    }

    @Test func `Padding of the payload is accepted`() {
        let payload = Data(#"{"exp":1000600 }"#.utf8).base64EncodedString()
        #expect(payload.hasSuffix("="))
        #expect(IDToken.expirationTime(of: "e30.\(payload).") == Self.start + 600)
    }

    @Test(arguments: [(3_600, 3_540), (600, 540), (100, 90), (1, 0.9)] as [(Double, Double)])
    func `A token is refreshed before it expires`(lifetime: Double, refresh: Double) {
        let token = unsignedToken(#"{"exp":\#(1_000_000 + lifetime)}"#)
        var value = IDToken(BearerToken(token), number: 1, userChange: OneTimeEvent(), now: Self.start)
        #expect(!value.requiresRefresh(at: Self.start + refresh - 0.01))
        #expect(value.requiresRefresh(at: Self.start + refresh + 0.01))
        #expect(!value.isExpired(at: Self.start + lifetime - 0.01) && value.isExpired(at: Self.start + lifetime))
        value.refreshFailed()
        #expect(!value.requiresRefresh(at: Self.start + lifetime - 0.01))
    }

    @Test func `A token that seems to have expired is used until the server refuses it`() {
        let token = IDToken(
            BearerToken(unsignedToken(#"{"exp":999999}"#)),
            number: 1,
            userChange: OneTimeEvent(),
            now: Self.start
        )
        #expect(!token.isExpired(at: .distantFuture) && !token.requiresRefresh(at: .distantFuture))
    }

    @Test func `Descriptions do not contain the token`() async throws {
        let token = IDToken(BearerToken("secret"), number: 1, userChange: OneTimeEvent(), now: Self.start)
        let connection = try HearthConnection(server: ServerAddress("http://127.0.0.1:1"), key: "secret")
        var texts = ["\(token)", String(reflecting: token), "\(token.bearer as Any)"]
        for value in [token, connection] as [Any] {
            var text = ""
            dump(value, to: &text)
            texts.append(text)
        }
        await connection.shutdown()
        for text in texts { #expect(!text.contains("secret")) }
        #expect(token.bearer?.text == "secret")
    }
}
