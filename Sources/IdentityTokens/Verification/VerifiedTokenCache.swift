import Crypto
import DocumentModel
import Synchronization

/// A bounded cache of verified tokens, which spares the signature check of each request.
///
/// Entries are keyed by the SHA-256 digest of the whole text, and are valid until the token expires or the issuer's key set
/// changes. The least recently used half is dropped when the cache is full.
package final class VerifiedTokenCache: Sendable {
    private struct Entry {
        let token: VerifiedToken
        /// The generation of the key set that verified the token.
        let generation: Int
    }

    /// Two halves with distinct entries: those found in the older half move to the recent one.
    private struct State {
        var recent: [SHA256Digest: Entry] = [:]
        var older: [SHA256Digest: Entry] = [:]

        mutating func insert(_ entry: Entry, for digest: SHA256Digest, capacity: Int) {
            if recent.count >= capacity { (older, recent) = (recent, [:]) }
            recent[digest] = entry
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
    /// - Parameter generation: Returns the current generation of an issuer's key set.
    func token(_ text: [UInt8], at time: Timestamp, generation: (TokenIssuer) -> Int?) -> VerifiedToken? {
        let digest = SHA256.hash(data: text)
        guard let entry = entry(for: digest) else { return nil }
        guard time < entry.token.expirationTime, generation(entry.token.issuer) == entry.generation else {
            state.withLock { $0.remove(digest) }
            return nil
        }
        return entry.token
    }

    /// Adds a token that keys of a generation verified.
    func insert(_ token: VerifiedToken, text: [UInt8], generation: Int) {
        let digest = SHA256.hash(data: text)
        state.withLock { $0.insert(Entry(token: token, generation: generation), for: digest, capacity: halfCapacity) }
    }

    private func entry(for digest: SHA256Digest) -> Entry? {
        state.withLock { state in
            if let entry = state.recent[digest] { return entry }
            guard let entry = state.older.removeValue(forKey: digest) else { return nil }
            state.insert(entry, for: digest, capacity: halfCapacity)
            return entry
        }
    }
}
