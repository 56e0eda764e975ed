import AsyncHTTPClient
import DocumentModel
import NIOCore
import StrictJSON

/// Writes a document again and again, at a constant rate.
struct SteadyWriter {
    private var generator: DocumentGenerator
    private let rate: Int
    private let url: String
    private let token: String?

    /// - Parameters:
    ///   - rate: The number of writes per second.
    ///   - port: The port of the server.
    ///   - token: The ID token or API key of all writes; `nil` for none.
    init(seed: UInt64, rate: Int, port: Int, token: String? = nil) {
        generator = DocumentGenerator(seed: seed)
        self.rate = rate
        self.token = token
        url = "http://127.0.0.1:\(port)/rpc"
    }

    /// The collection of the document.
    static let collection = "documents"

    /// Writes the document `count` times, one write after the other.
    mutating func write(_ count: Int) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        for index in 0..<count {
            try await clock.sleep(until: start + .seconds(1) * index / rate)
            let fields = generator.next()
            let call = ByteBuffer.call("documents.set") { params in
                params.key("path")
                params.string(Self.collection + "/one")
                params.key("fields")
                fields.write(to: &params)
            }
            // A persistent connection, unlike those of HTTPLoad, which last for one call here.
            let response = try await HTTPClient.shared.post(call, to: url, token: token)
            guard response.hasPrefix(HTTPLoad.result) else { throw HTTPLoad.UnexpectedResponse(description: response) }
        }
    }
}
