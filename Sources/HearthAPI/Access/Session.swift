import Cryptography
package import DocumentModel
package import UTF8Text

/// A browser session, which begins when a user signs in with a key.
package struct Session: Sendable {
    /// The public identifier of the session, a prefix of the hash of its ID.
    package let name: UTF8Key
    /// The caller that signed in.
    package let caller: Caller
    /// True if the session was started over TLS; its cookie is then sent over TLS only.
    package let isSecure: Bool
    /// The network of the browser's address at sign-in.
    package let network: UTF8Key
    package let startTime: Timestamp
    /// The time of the last request.
    package internal(set) var lastUseTime: Timestamp
}

extension Session {
    /// The time after which an unused session ends.
    package static let idleTimeout = Duration.seconds(30 * 60)
    /// The time after which every session ends.
    package static let maximumLifetime = Duration.seconds(12 * 60 * 60)

    func isExpired(at now: Timestamp) -> Bool { Self.isExpired(startTime, lastUseTime, at: now) }

    /// Returns whether a session with these times has expired.
    static func isExpired(_ startTime: Timestamp, _ lastUseTime: Timestamp, at now: Timestamp) -> Bool {
        elapsed(from: lastUseTime, to: now) >= idleTimeout || elapsed(from: startTime, to: now) >= maximumLifetime
    }

    private static func elapsed(from start: Timestamp, to end: Timestamp) -> Duration {
        .microseconds(end.microseconds - start.microseconds)
    }
}

/// The secret that identifies a browser's session: 256 random bits as 64 lowercase hexadecimal digits.
struct SessionID {
    let text: String

    /// Creates an ID from the system's random number generator.
    init() {
        text = Hexadecimal.random(byteCount: 32)
    }

    /// Returns the stored form of an ID, its SHA-256. A lookup by hash leaks nothing about the ID through its timing.
    static func digest(of text: some Collection<UInt8>) -> UTF8Key {
        UTF8Key(Hexadecimal.encode(SHA256.digest(of: Array(text))))
    }
}
