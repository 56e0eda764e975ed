internal import AsyncHTTPClient
import DocumentModel
package import IdentityTokens
import NIOCore
import NIOHTTP1

/// Fetches the key sets of issuers over HTTPS, from the addresses of the configuration only.
package struct KeySetFetcher: Sendable {
    private let client: HTTPClient

    /// The maximum size of a key set.
    private static let maximumBytes = 64 << 10

    /// Creates a fetcher that follows no redirects: the operator names the hosts.
    package init() {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Fetches the key set of an issuer.
    package func fetch(_ issuer: TokenIssuer) async throws -> FetchedKeySet {
        guard case .keySetURL(let url) = issuer.keySource else {
            throw StatusError(.internal, "The keys of the issuer are in a file.")
        }
        let response = try await client.execute(HTTPClientRequest(url: url.description), timeout: .seconds(5))
        guard response.status == .ok else {
            throw StatusError(.unavailable, "\(url) responded with the status \(response.status.code).")
        }
        let body = try await response.body.collect(upTo: Self.maximumBytes)
        return FetchedKeySet(bytes: Array(body.readableBytesView), maxAge: Self.maxAge(of: response.headers))
    }

    /// Returns the directive `max-age` of the field `Cache-Control` (RFC 9111, section 5.2.2.1).
    static func maxAge(of headers: HTTPHeaders) -> Duration? {
        for directive in headers[canonicalForm: "cache-control"] {
            let parts = directive.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1)
            guard parts.count == 2, parts[0].map(\.lowercasedASCII).elementsEqual("max-age".utf8),
                let seconds = Int(Substring(parts[1]))
            else { continue }
            return .seconds(max(0, seconds))
        }
        return nil
    }

    /// Closes the connections.
    package func shutDown() async {
        try? await client.shutdown()
    }
}

extension UInt8 {
    fileprivate var lowercasedASCII: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 32 : self
    }
}
