import DocumentModel
import FirestoreAPI
import FirestoreMessages
import Synchronization

/// The latest documents that listeners were sent, as `Document` messages: the listeners of a collection share the encoding of a
/// commit's documents.
final class EncodedDocumentCache: Sendable {
    private struct Key: Hashable {
        let database: DatabaseID
        let path: DocumentPath
        /// Listeners that are behind get earlier versions.
        let updateTime: Timestamp
    }

    private struct Entry {
        let document: EncodedDocument
        let message: [UInt8]
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        /// The keys of the entries. Once there is the maximum number, each new one replaces the oldest.
        var keys: [Key] = []
        var oldestIndex = 0

        mutating func add(_ entry: Entry, for key: Key) {
            guard entries.updateValue(entry, forKey: key) == nil else { return }
            guard keys.count == maximumCount else { return keys.append(key) }
            entries[keys[oldestIndex]] = nil
            keys[oldestIndex] = key
            oldestIndex = (oldestIndex + 1) % maximumCount
        }
    }

    private let state = Mutex(State())

    static let maximumCount = 256
    /// The maximum size of a message that is retained.
    private static let maximumMessageBytes = 16 << 10

    /// The number of documents.
    var count: Int { state.withLock(\.entries.count) }

    /// Returns the `Document` message of a document.
    ///
    /// - Throws: ``StatusCode/dataLoss`` if the stored fields are damaged.
    func message(for document: EncodedDocument, in database: DatabaseName) throws(StatusError) -> [UInt8] {
        let key = Key(database: database.id, path: document.path, updateTime: document.updateTime)
        if let entry = state.withLock({ $0.entries[key] }), entry.document == document { return entry.message }
        let message = try document.protobuf(in: database)
        if message.count <= Self.maximumMessageBytes {
            state.withLock { $0.add(Entry(document: document, message: message), for: key) }
        }
        return message
    }
}

extension EncodedDocument {
    /// The `Document` message.
    ///
    /// - Throws: ``StatusCode/dataLoss`` if the stored fields are damaged.
    func protobuf(in database: DatabaseName) throws(StatusError) -> [UInt8] {
        var writer = ProtobufWriter(reservingCapacity: 2 * fieldsJSON.count + 256)
        try writer.document(self, in: database)
        return writer.finish()
    }
}
