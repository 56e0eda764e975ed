internal import DocumentModel

/// Which documents have been looked at, by 128 bits each of a hash that nobody can foresee: there may be very many.
struct SeenDocuments: Sendable {
    private struct Digest: Hashable {
        let first: Int
        let second: Int
    }

    private var digests: Set<Digest> = []

    /// Notes a document; false when it was noted before.
    mutating func insert(_ path: DocumentPath) -> Bool {
        var hasher = Hasher()
        hasher.combine(path)
        let first = hasher.finalize()
        hasher = Hasher()
        hasher.combine(0x5eed)
        hasher.combine(path)
        return digests.insert(Digest(first: first, second: hasher.finalize())).inserted
    }
}
