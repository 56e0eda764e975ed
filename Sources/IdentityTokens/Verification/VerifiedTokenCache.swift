import Cryptography
import DocumentModel
import Synchronization

/// A bounded cache of verified tokens, which spares the signature check of each request.
///
/// Entries are keyed by the SHA-256 digest of the whole text, and are valid until the token expires or the issuer's key set
/// changes. The least recently used half is dropped when the cache is full.
package final class VerifiedTokenCache: Sendable {
    /// Two halves with distinct entries: those found in the older half move to the recent one.
    private struct State {
        var recent: [SHA256Digest: VerifiedToken] = [:]
        var older: [SHA256Digest: VerifiedToken] = [:]

        mutating func insert(_ token: VerifiedToken, for digest: SHA256Digest, capacity: Int) {
            if recent.count >= capacity { (older, recent) = (recent, [:]) }
            recent[digest] = token
            older[digest] = nil
        }

        mutating func remove(_ digest: SHA256Digest) {
            recent[digest] = nil
            older[digest] = nil
        }
    }

    private let state = Mutex(State())
    private let halfCapacity: Int

    /// Creates a cache for at most `capacity` tokens.
    package init(capacity: Int = 4_096) {
        halfCapacity = max(1, capacity / 2)
    }

    /// The number of cached tokens.
    package var count: Int {
        state.withLock { $0.recent.count + $0.older.count }
    }

    /// Returns a verified token, or `nil` if it is not cached or no longer valid.
    ///
    /// - Parameter isValid: Returns whether a token is still valid.
    func token(_ text: [UInt8], where isValid: (VerifiedToken) -> Bool) -> VerifiedToken? {
        let digest = SHA256.digest(of: text)
        guard let token = token(for: digest) else { return nil }
        guard isValid(token) else {
            state.withLock { $0.remove(digest) }
            return nil
        }
        return token
    }

    /// Adds a token.
    func insert(_ token: VerifiedToken, text: [UInt8]) {
        let digest = SHA256.digest(of: text)
        state.withLock { $0.insert(token, for: digest, capacity: halfCapacity) }
    }

    private func token(for digest: SHA256Digest) -> VerifiedToken? {
        state.withLock { state in
            if let token = state.recent[digest] { return token }
            guard let token = state.older.removeValue(forKey: digest) else { return nil }
            state.insert(token, for: digest, capacity: halfCapacity)
            return token
        }
    }
}
