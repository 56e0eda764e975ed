import Synchronization
import UTF8Text

/// Secrets that can be read once: they carry the secret of a new API key from its form to the page after the redirect.
final class OneTimeSecrets: Sendable {
    private struct Entry {
        let id: UTF8Key
        let owner: UTF8Key
        let text: String
    }

    private let entries = Mutex<[Entry]>([])

    /// The maximum number of stored secrets; the oldest is dropped.
    private static let limit = 16

    /// Stores a secret for an owner and returns its ID.
    func store(_ text: String, for owner: UTF8Key) -> UTF8Key {
        let entry = Entry(id: UTF8Key(RandomToken.make()), owner: owner, text: text)
        entries.withLock { entries in
            entries.append(entry)
            if entries.count > Self.limit { entries.removeFirst() }
        }
        return entry.id
    }

    /// Removes and returns a secret of the owner.
    func redeem(_ id: UTF8Key, for owner: UTF8Key) -> String? {
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.id == id && $0.owner == owner }) else { return nil }
            return entries.remove(at: index).text
        }
    }
}
