import StrictJSON
import Synchronization

/// Texts that are shown once: a key that was just made goes through here from its form to the page after it, and nowhere else.
final class OneTimeTexts: Sendable {
    private struct Entry {
        let id: UTF8Key
        let visitor: UTF8Key
        let text: String
    }

    private let entries = Mutex<[Entry]>([])

    private static let limit = 16

    /// Keeps a text for a visitor, and gives the word by which it is had.
    func keep(_ text: String, for visitor: UTF8Key) -> UTF8Key {
        let entry = Entry(id: UTF8Key(Nonce.make()), visitor: visitor, text: text)
        entries.withLock { entries in
            entries.append(entry)
            if entries.count > Self.limit { entries.removeFirst() }
        }
        return entry.id
    }

    /// Gives a text to the visitor that it is for, and forgets it.
    func take(_ id: UTF8Key, for visitor: UTF8Key) -> String? {
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.id == id && $0.visitor == visitor }) else { return nil }
            return entries.remove(at: index).text
        }
    }
}
