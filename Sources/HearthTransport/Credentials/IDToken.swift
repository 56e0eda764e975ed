internal import Foundation
internal import StrictJSON
internal import UTF8Text

/// An ID token, or the information that nobody is signed in.
package struct IDToken: Sendable {
    /// The token; `nil` if nobody is signed in.
    let bearer: BearerToken?
    /// The number of the token, which distinguishes it from the others of its connection.
    let number: Int
    /// Occurs when the token no longer belongs to the current user.
    let userChange: OneTimeEvent
    /// The time at which the token expires; `nil` if it is unknown, or past by the clock of this machine, which then differs from
    /// that of the issuer.
    let expirationTime: Date?
    /// The time from which a new token is requested; `nil` if the server's refusal is awaited.
    private(set) var refreshTime: Date?

    /// The maximum time before the expiration at which a token is refreshed.
    private static let maximumMargin: TimeInterval = 60

    init(_ bearer: BearerToken?, number: Int, userChange: OneTimeEvent, now: Date) {
        self.bearer = bearer
        self.number = number
        self.userChange = userChange
        expirationTime = bearer.flatMap { Self.expirationTime(of: $0.text) }.flatMap { $0 > now ? $0 : nil }
        // In relation to the lifetime, so that a token with a short one is not refreshed continuously.
        refreshTime = expirationTime.map { $0 - min($0.timeIntervalSince(now) / 10, Self.maximumMargin) }
    }

    /// Suppresses further attempts to refresh the token before it expires.
    mutating func refreshFailed() {
        refreshTime = expirationTime
    }

    func isExpired(at now: Date) -> Bool {
        expirationTime.map { $0 <= now } ?? false
    }

    func requiresRefresh(at now: Date) -> Bool {
        refreshTime.map { $0 <= now } ?? false
    }

    /// Returns the claim `exp` of a JSON Web Token; `nil` for other texts. The token is not verified.
    static func expirationTime(of token: String) -> Date? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var payload = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        while payload.utf8.last == UInt8(ascii: "=") { payload.removeLast() }
        payload += String(repeating: "=", count: (4 - payload.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: payload), let claims = try? JSONText(Array(data)).root else { return nil }
        let seconds: TimeInterval? =
            switch claims["exp"]?.number {
            case .integer(let seconds)?: TimeInterval(seconds)
            case .double(let seconds)?: seconds
            default: nil
            }
        return seconds.map { Date(timeIntervalSince1970: $0) }
    }
}

/// The cause of an error for a call without an ID token, since its provider has failed.
package struct TokenProviderFailure: Error {
    /// The error of the provider.
    package let underlying: any Error
}
