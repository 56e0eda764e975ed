import AsyncHTTPClient
import NIOCore
import NIOHTTP1

extension HTTPClient {
    /// Sends a POST request with a JSON body and returns the response. The connection is persistent.
    ///
    /// - Parameter token: The ID token or API key; `nil` for none.
    func post(_ json: ByteBuffer, to url: String, token: String? = nil) async throws -> String {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        request.body = .bytes(json)
        let response = try await execute(request, timeout: .seconds(10))
        return String(buffer: try await response.body.collect(upTo: 1 << 20))
    }
}
