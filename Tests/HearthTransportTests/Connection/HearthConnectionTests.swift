import DocumentModel
import HearthTransport
import Testing

@Suite("Hearth connection")
struct HearthConnectionTests {
    @Test(arguments: [
        "", "localhost", "localhost:8080", "ftp://localhost", "http://", "http://a b", "http://x/?q=1", "http://x/#y",
    ])
    func `Rejects invalid server addresses`(text: String) {
        #expect(throws: StatusError.self) { try ServerAddress(text) }
    }

    @Test(arguments: ["", "two words", "line\nbreak", "schlüssel"]) func `Rejects API keys with invalid characters`(
        key: String
    ) throws {
        let address = try ServerAddress("http://127.0.0.1:8080/")
        #expect(address.description == "http://127.0.0.1:8080")
        let error = #expect(throws: StatusError.self) { try HearthConnection(server: address, key: key) }
        #expect(error?.code == .invalidArgument)
        if !key.isEmpty { #expect(error?.message.contains(key) == false) }
    }
}
