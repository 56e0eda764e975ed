internal import Cryptography
internal import DocumentModel
internal import UTF8Text

/// A key of an index of the engine: the bytes themselves, or the first of them and a digest, when they are too long for an index of
/// PostgreSQL.
///
/// A row of such an index has at most 2,704 bytes, a third of a page
/// (https://github.com/postgres/postgres/blob/REL_15_STABLE/src/include/access/nbtree.h, `BTMaxItemSize`). Keys compare as their bytes do, except that those that are equal up
/// to the cut compare by their digests.
enum EngineKey {
    /// The length of the longest key that is stored whole.
    static let maximumWholeBytes = 2_000
    /// The length of the longest name of an entry that is stored whole; beside it, the index has the value.
    static let maximumEntryNameBytes = 1_024
    private static let digestBytes = 16

    /// Returns the stored key.
    ///
    /// - Parameter maximum: The length of the longest key that is stored whole.
    static func stored(_ bytes: [UInt8], upTo maximum: Int = maximumWholeBytes) -> [UInt8] {
        guard bytes.count > maximum else { return bytes }
        return Array(bytes.prefix(maximum)) + SHA256.digest(of: bytes).prefix(digestBytes)
    }

    /// Returns whether a stored key is cut.
    static func isCut(_ stored: [UInt8]) -> Bool { stored.count > maximumWholeBytes }

    /// Returns the stored name of an entry.
    static func entryName(_ bytes: [UInt8]) -> [UInt8] { stored(bytes, upTo: maximumEntryNameBytes) }

    /// Returns the stored key of a document's name.
    static func name(_ path: DocumentPath) -> [UInt8] { stored(NameKey(path).bytes) }

    /// Returns a stored bound that is not after any stored key of bytes that are at or after `bound`.
    static func lowerBound(_ bound: [UInt8], upTo maximum: Int = maximumWholeBytes) -> [UInt8] { Array(bound.prefix(maximum)) }

    /// Returns a stored bound that is after all stored keys of bytes before `bound`.
    static func upperBound(_ bound: [UInt8], upTo maximum: Int = maximumWholeBytes) -> [UInt8] {
        guard bound.count > maximum else { return bound }
        return Array(bound.prefix(maximum)) + [UInt8](repeating: 0xff, count: digestBytes + 1)
    }

    /// Returns the key of a collection in `scopes`.
    static func scope(of collection: CollectionPath) -> [UInt8] { stored(Array(collection.string.utf8)) }

    /// Returns the key of a collection group in `scopes`. No collection's path begins with a slash.
    static func scope(ofGroup id: CollectionID) -> [UInt8] { stored(Array("/\(id.key.string)".utf8)) }
}
