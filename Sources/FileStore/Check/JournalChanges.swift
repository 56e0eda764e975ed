internal import DocumentModel
internal import DocumentStore
internal import UTF8Text

/// The last change to each document in the journal. It takes about 50 bytes of memory a document, and its path.
struct JournalChanges: Sendable {
    /// The last change to a document.
    struct Change {
        /// The commit.
        let sequence: SequenceNumber
        /// The commit time.
        let time: Timestamp
        /// The document's update time; `nil` if it was deleted.
        let updateTime: Timestamp?
        /// The ``SeededHash`` of the document's fields.
        let fieldsHash: UInt64
        /// The position of the document, in the order of the first changes.
        let number: Int
    }

    private struct Stored {
        /// The end of the path in ``paths``. It begins at the end of the one before.
        let pathEnd: Int
        var sequence: SequenceNumber
        var time: Timestamp
        /// ``deleted``, or the update time.
        var updateMicroseconds: Int64
        var fieldsHash: UInt64
    }

    private var stored: [Stored] = []
    /// The paths as text.
    private var paths: [UInt8] = []
    private var slots: HashSlots

    /// Not a valid timestamp.
    private static let deleted = Int64.min

    /// - Parameter count: The expected number of documents.
    init(expecting count: Int) {
        stored.reserveCapacity(count)
        slots = HashSlots(minimumCapacity: count)
    }

    /// The number of documents.
    var count: Int { stored.count }

    /// Removes all changes.
    mutating func removeAll() {
        self = JournalChanges(expecting: 0)
    }

    /// Replaces the change to a document.
    mutating func set(_ path: DocumentPath, _ sequence: SequenceNumber, _ time: Timestamp, after image: EncodedDocument?) {
        let hash = Self.hash(path)
        let updateMicroseconds = image?.updateTime.microseconds ?? Self.deleted
        let fieldsHash = image?.fieldsJSON.withUnsafeBytes { SeededHash.hash($0) } ?? 0
        if let number = number(of: path, hash) {
            stored[number].sequence = sequence
            stored[number].time = time
            stored[number].updateMicroseconds = updateMicroseconds
            stored[number].fieldsHash = fieldsHash
            return
        }
        UTF8Key(path.collection.string).withBytes { paths.append(contentsOf: $0) }
        paths.append(Self.slash)
        path.id.key.withBytes { paths.append(contentsOf: $0) }
        stored.append(
            Stored(
                pathEnd: paths.count,
                sequence: sequence,
                time: time,
                updateMicroseconds: updateMicroseconds,
                fieldsHash: fieldsHash
            )
        )
        slots.insert(stored.count - 1, hash) { [stored, paths] in Self.withPath($0, stored, paths, Self.hash) }
    }

    /// The change to a document; `nil` if there is none.
    subscript(path: DocumentPath) -> Change? {
        number(of: path, Self.hash(path)).map(change)
    }

    /// Returns the changes whose numbers satisfy a predicate, with their documents.
    func filter(_ isIncluded: (Change) -> Bool) throws(StatusError) -> [(path: DocumentPath, change: Change)] {
        var result: [(path: DocumentPath, change: Change)] = []
        for number in stored.indices {
            let change = change(number)
            guard isIncluded(change) else { continue }
            let text = Self.withPath(number, stored, paths) { collection, id in
                String(decoding: collection, as: UTF8.self) + "/" + String(decoding: id, as: UTF8.self)
            }
            result.append((try DocumentPath(text), change))
        }
        return result
    }

    private func change(_ number: Int) -> Change {
        let stored = stored[number]
        return Change(
            sequence: stored.sequence,
            time: stored.time,
            updateTime: stored.updateMicroseconds == Self.deleted ? nil : try? Timestamp(microseconds: stored.updateMicroseconds),
            fieldsHash: stored.fieldsHash,
            number: number
        )
    }

    private func number(of path: DocumentPath, _ hash: UInt64) -> Int? {
        slots.position(of: hash) { number in
            Self.withPath(number, stored, paths) { collection, id in
                path.id.key.withBytes { $0.hasSameBytes(as: id) }
                    && UTF8Key(path.collection.string).withBytes { $0.hasSameBytes(as: collection) }
            }
        }
    }

    /// Calls `body` with the parts of a document's path.
    private static func withPath<Result>(
        _ number: Int,
        _ stored: [Stored],
        _ paths: [UInt8],
        _ body: (_ collection: UnsafeBufferPointer<UInt8>, _ id: UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        paths.withUnsafeBufferPointer { paths in
            let start = number == 0 ? 0 : stored[number - 1].pathEnd
            let path = UnsafeBufferPointer(rebasing: paths[start..<stored[number].pathEnd])
            // A document's path has a slash.
            let middle = path.lastIndex(of: slash)!
            return body(
                UnsafeBufferPointer(rebasing: path[..<middle]),
                UnsafeBufferPointer(rebasing: path[(middle + 1)...])
            )
        }
    }

    private static func hash(_ path: DocumentPath) -> UInt64 {
        UTF8Key(path.collection.string).withBytes { collection in path.id.key.withBytes { hash(collection, $0) } }
    }

    private static func hash(_ collection: UnsafeBufferPointer<UInt8>, _ id: UnsafeBufferPointer<UInt8>) -> UInt64 {
        SeededHash.hash(UnsafeRawBufferPointer(id), SeededHash.hash(UnsafeRawBufferPointer(collection)))
    }

    private static let slash = UInt8(ascii: "/")
}
