import Crypto
package import DocumentModel
package import StrictJSON

/// A browser that somebody has signed in with.
package struct Session: Sendable {
    /// Names the session where it is listed and ended. It is made of the hash of the ID, so it is no secret.
    package let name: UTF8Key
    /// Who signed in.
    package let caller: Caller
    /// Whether the browser was given the session by TLS, and sends it by nothing else.
    package let isSecure: Bool
    /// The network of the browser's address when it signed in.
    package let network: UTF8Key
    package let startTime: Timestamp
    /// When the browser asked for something last.
    package internal(set) var lastUseTime: Timestamp
}

extension Session {
    /// For how long a session that isn't used is kept.
    package static let maximumIdle = Duration.seconds(30 * 60)
    /// For how long a session is kept that is in use.
    package static let maximumAge = Duration.seconds(12 * 60 * 60)

    func isOver(at now: Timestamp) -> Bool {
        Self.passed(from: lastUseTime, to: now) >= Self.maximumIdle || Self.passed(from: startTime, to: now) >= Self.maximumAge
    }

    private static func passed(from start: Timestamp, to end: Timestamp) -> Duration {
        .microseconds(end.microseconds - start.microseconds)
    }
}

/// The secret by which a browser shows which session it has: 64 small hexadecimal digits of 256 random bits.
struct SessionID {
    let text: String

    /// Makes a new one of the system's random numbers.
    init() {
        text = Hexadecimal.random(byteCount: 32)
    }

    /// What is kept of an ID: its SHA-256. Looking that up tells nothing about the ID by how long it takes.
    static func digest(of text: some Collection<UInt8>) -> UTF8Key {
        UTF8Key(Hexadecimal.encode(SHA256.hash(data: Array(text))))
    }
}
