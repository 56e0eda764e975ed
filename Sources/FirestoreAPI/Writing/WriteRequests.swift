package import DocumentModel
package import DocumentStore
import FirestoreMessages
package import HearthAPI

/// A `CreateDocument` request.
package struct CreateDocumentRequest: Sendable {
    private let collection: CollectionPath
    private let id: DocumentPath.ID
    private let fields: MapValue
    private let mask: [FieldPath]?

    package static let requiredPermission = CreateDocument.requiredPermission

    /// Creates a request.
    ///
    /// - Parameter id: The ID of the document; `nil` or empty for a random one.
    package init(
        _ fields: MapValue,
        in collection: CollectionPath,
        id: String?,
        mask: [FieldPath]?
    ) throws(StatusError) {
        self.collection = collection
        self.id =
            try id.map { text throws(StatusError) in try text.utf8.isEmpty ? .automatic() : DocumentPath.ID(text) }
            ?? .automatic()
        self.fields = fields
        self.mask = mask
        try Document.validate(fields, at: collection.document(self.id))
    }

    /// Creates the document, and returns the fields in the mask.
    package func respond(in context: ServiceContext) async throws(StatusError) -> EncodedDocument {
        let document = try await CreateDocument.call(.init(collection: collection, id: id, fields: fields), in: context)
        return try mask.map { mask throws(StatusError) in try document.masked(mask) } ?? document
    }
}

/// An `UpdateDocument` request.
package struct UpdateDocumentRequest: Sendable {
    private let write: Write
    private let mask: [FieldPath]?

    package static let requiredPermission = UpdateDocument.requiredPermission

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - updateMask: The fields to update; `nil` to replace the document.
    ///   - mask: The fields to return; `nil` for all.
    package init(
        _ path: DocumentPath,
        _ fields: MapValue,
        updateMask: [FieldPath]?,
        mask: [FieldPath]?,
        precondition: Precondition
    ) throws(StatusError) {
        var write = Write(path, fields, mask: updateMask)
        try write.validate()
        write.precondition = precondition
        self.write = write
        self.mask = mask
    }

    /// Writes the document, and returns the fields in the mask.
    package func respond(in context: ServiceContext) async throws(StatusError) -> EncodedDocument {
        let time = try await context.commit(write).commitTime
        // As of the commit: another writer may have changed the document since.
        do throws(StatusError) {
            let request = GetDocument.Params(path: write.path, mask: mask, consistency: .snapshot(at: time))
            return try await GetDocument.document(request, in: context)
        } catch  where error.code == .permissionDenied && context.caller.isEndUser {
            // A user who may write but not read gets the document as written.
            let written = EncodedDocument(Document(path: write.path, fields: write.fields, createTime: time, updateTime: time))
            return try mask.map { mask throws(StatusError) in try written.masked(mask) } ?? written
        }
    }
}

extension Write {
    /// The fields of the write itself.
    fileprivate var fields: MapValue {
        switch operation {
        case .replace(let fields), .patch(let fields, _): fields
        case .delete, .verify: MapValue()
        }
    }
}

/// A `Commit` request.
package struct CommitRequest: Sendable {
    private let writes: [Write]
    private let transaction: TransactionID?

    package static let requiredPermission = CommitWrites.requiredPermission

    package init(_ writes: [Write], in transaction: TransactionID?) throws(StatusError) {
        self.writes = try StatusError.locating(elementsOf: writes, in: "writes") { write throws(StatusError) in
            try write.validate()
            return write
        }
        self.transaction = transaction
    }

    package func respond(in context: ServiceContext) async throws(StatusError) -> CommitResult {
        try await CommitWrites.call(.init(writes: writes, transaction: transaction), in: context)
    }
}

/// A `BatchWrite` request.
package struct BatchWriteRequest: Sendable {
    private let writes: [Write]

    package static let requiredPermission = BatchWrite.requiredPermission

    package init(_ writes: [Write]) {
        self.writes = writes
    }

    /// Applies the writes independently: an invalid write fails on its own.
    package func respond(in context: ServiceContext) async throws(StatusError) -> [BatchWrite.Outcome] {
        let validationErrors = writes.map { write -> StatusError? in
            do throws(StatusError) {
                try write.validate()
                return nil
            } catch {
                return error
            }
        }
        let validWrites = zip(writes, validationErrors).filter { $0.1 == nil }.map(\.0)
        var outcomes = try await BatchWrite.call(validWrites, in: context).makeIterator()
        return validationErrors.map { error in error.map { .failure($0) } ?? outcomes.next() ?? .failure(Self.missingOutcome) }
    }

    private static let missingOutcome = StatusError(.internal, "BatchWrite returned too few results.")
}
