import AsyncHTTPClient
import NIOCore
import NIOHTTP1

extension HTTPClient {
    /// Sends a POST request with a JSON body and returns the response. The connection is persistent.
    func post(_ json: ByteBuffer, to url: String) async throws -> String {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(json)
        let response = try await execute(request, timeout: .seconds(10))
        return String(buffer: try await response.body.collect(upTo: 1 << 20))
    }
}
