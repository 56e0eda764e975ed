package import DocumentModel
internal import UTF8Text

/// The number of a batch in a user's queue: from 1 up, and never used twice.
package typealias BatchNumber = UInt64

/// The writes of one call, committed together, in the queue.
package struct MutationBatch: Hashable, Sendable {
    /// The place in the user's queue, and with the client's identity the identity of the commit.
    package let number: BatchNumber
    /// The time of the call, by the server's clock as far as it is known.
    package let localTime: Timestamp
    /// The writes.
    package let writes: [Write]
    /// The values that the increments start from.
    package let baseValues: [BaseValue]

    /// Creates a batch from its parts, as a cache stored them.
    package init(number: BatchNumber, localTime: Timestamp, writes: [Write], baseValues: [BaseValue]) {
        self.number = number
        self.localTime = localTime
        self.writes = writes
        self.baseValues = baseValues
    }

    /// The documents that the batch writes.
    package var paths: Set<DocumentPath> { Set(writes.lazy.map(\.path)) }

    /// The approximate size in a cache and in a request.
    package var byteCount: Int { Self.byteCount(of: writes) }

    /// Returns the approximate size of a batch of writes.
    package static func byteCount(of writes: [Write]) -> Int {
        writes.reduce(0) { $0 + $1.byteCount }
    }

    /// The value of a field when the batch was queued, which its increments are added to.
    ///
    /// A document that the stream delivers may already contain an increment whose answer is still under way. Since increments are
    /// always added to their base value, they do not count twice in the local view.
    package struct BaseValue: Hashable, Sendable {
        /// The document.
        package let path: DocumentPath
        /// The incremented field.
        package let field: FieldPath
        /// Its number; 0 if it had none.
        package let value: Value

        /// Creates a base value.
        package init(path: DocumentPath, field: FieldPath, value: Value) {
            self.path = path
            self.field = field
            self.value = value
        }
    }
}

/// The server's answer to a batch.
package struct BatchResult: Sendable {
    /// The commit time.
    package let commitTime: Timestamp
    /// The results of the writes, in order; none if the server no longer has them.
    package let results: [WriteResult]
    /// The documents after the commit, `nil` for an absent one, if the server returned them. They save computing the outcome.
    package let documents: [DocumentPath: Document?]

    /// True if the server knows that the batch is committed, but no longer with which results: it keeps those of large batches for
    /// some time only. The outcome is then estimated, until a stream delivers the documents.
    package var lacksResults: Bool { results.isEmpty }

    /// Creates an answer.
    package init(commitTime: Timestamp, results: [WriteResult], documents: [DocumentPath: Document?] = [:]) {
        self.commitTime = commitTime
        self.results = results
        self.documents = documents
    }
}

extension Write {
    /// The approximate size in a cache and in a request.
    fileprivate var byteCount: Int {
        let fields: MapValue =
            switch operation {
            case .replace(let fields), .patch(let fields, _): fields
            case .delete, .verify: MapValue()
            }
        return transforms.reduce(Document.size(of: fields, at: path)) { size, transform in
            size + Document.size(of: ["operand": transform.operand], at: path)
        }
    }
}

extension FieldTransform {
    fileprivate var operand: Value {
        switch operation {
        case .serverTimestamp: .null
        case .increment(let value), .maximum(let value), .minimum(let value): value
        case .arrayUnion(let elements), .arrayRemove(let elements): .array(elements)
        }
    }
}
