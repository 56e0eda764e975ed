import DocumentModel
import FirestoreAPI
import Synchronization

/// The latest documents that listeners were sent, as `Document` messages: the listeners of a collection share the encoding of a
/// commit's documents.
final class EncodedDocumentCache: Sendable {
    private struct Key: Hashable {
        let database: DatabaseID
        let path: DocumentPath
    }

    private struct Entry {
        let document: EncodedDocument
        let message: [UInt8]
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        /// The keys of the entries, the oldest first.
        var keys: ArraySlice<Key> = []
    }

    private let state = Mutex(State())

    static let maximumCount = 64
    /// The maximum size of a message that is retained.
    private static let maximumMessageBytes = 16 << 10

    /// The number of documents.
    var count: Int { state.withLock(\.entries.count) }

    /// Returns the `Document` message of a document.
    ///
    /// - Throws: ``StatusCode/dataLoss`` if the stored fields are damaged.
    func message(for document: EncodedDocument, in database: DatabaseName) throws(StatusError) -> [UInt8] {
        let key = Key(database: database.id, path: document.path)
        if let entry = state.withLock({ $0.entries[key] }), entry.document == document { return entry.message }
        let message = try document.protobuf(in: database)
        if message.count <= Self.maximumMessageBytes {
            state.withLock { state in
                if state.entries.updateValue(Entry(document: document, message: message), forKey: key) == nil {
                    state.keys.append(key)
                }
                guard state.keys.count > Self.maximumCount, let oldest = state.keys.popFirst() else { return }
                state.entries[oldest] = nil
                // A slice retains the elements that were removed from it.
                state.keys = ArraySlice(Array(state.keys))
            }
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
