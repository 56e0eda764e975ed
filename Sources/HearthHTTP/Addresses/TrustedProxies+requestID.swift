import HTTPTypes
import HummingbirdCore

extension TrustedProxies {
    /// Returns the request's ID that a trusted proxy has set; `nil` if the peer isn't one, or the ID is not usable in logs.
    ///
    /// - Parameter fields: The values of `X-Request-Id`.
    func requestID(behind peer: IPAddress?, _ fields: [String]) -> String? {
        guard !isEmpty, fields.count == 1, let id = fields.first, let peer, contains(peer) else { return nil }
        // Visible ASCII.
        guard (1...Self.maximumRequestIDBytes).contains(id.utf8.count), id.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        return id
    }

    private static var maximumRequestIDBytes: Int { 64 }
}
