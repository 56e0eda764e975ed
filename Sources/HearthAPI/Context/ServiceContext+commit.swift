import Cryptography
package import DocumentModel
package import DocumentStore
import HearthWire
import JSONRPC
import StrictJSON

extension ServiceContext {
    /// Commits writes as the caller, provided that nothing in `reads` has changed.
    ///
    /// - Parameter identity: The identity by which the commit is recognized when it is sent again; `nil` for none.
    package func commit(
        _ writes: [Write],
        validating reads: ReadSet = ReadSet(),
        identity: CommitIdentity? = nil
    ) async throws(StatusError) -> CommitResult {
        try await store.commit(writes, validating: reads, by: CommitAuthor(keyID: caller.keyID), identity: identity)
    }

    /// Commits a single write. Its errors have no write index.
    package func commit(
        _ write: Write,
        validating reads: ReadSet = ReadSet(),
        identity: CommitIdentity? = nil
    ) async throws(StatusError) -> CommitResult {
        do throws(StatusError) {
            return try await commit([write], validating: reads, identity: identity)
        } catch {
            var error = error
            error.writeIndex = nil
            throw error
        }
    }

    /// Commits a single write to a document whose file is damaged, and returns its result.
    ///
    /// - Parameter file: The contents of the file.
    /// - Throws: `failedPrecondition` when the file has changed, or is not damaged.
    package func apply(_ write: Write, replacingDamaged file: [UInt8]) async throws(StatusError) -> WriteResult {
        let last = try await GetDocumentHistory.call(.init(path: write.path, pageSize: 1), in: self).versions.first?.document
        var reads = ReadSet()
        reads.permitOverwriting(DamagedFileSnapshot(contents: file, lastVersion: last), at: write.path)
        return try await apply(write, validating: reads)
    }

    /// Commits a single write and returns its result.
    ///
    /// - Parameter identity: The identity by which the commit is recognized when it is sent again; `nil` for none.
    func apply(
        _ write: Write,
        validating reads: ReadSet = ReadSet(),
        identity: CommitIdentity? = nil
    ) async throws(StatusError) -> WriteResult {
        guard let result = try await commit(write, validating: reads, identity: identity).writeResults.first else {
            throw StatusError(.internal, "The commit of a single write has no result.", path: write.path.string)
        }
        return result
    }
}

extension ServiceContext {
    /// Commits a single write once, however often it is applied with the same key within a day, and returns its first result.
    ///
    /// - Parameter key: Secret bytes that identify the request. Other writes with the same key are other commits.
    package func apply(_ write: Write, onceFor key: [UInt8]) async throws(StatusError) -> WriteResult {
        var writer = JSONWriter()
        write.write(to: &writer)
        let digest = SHA256.digest(of: key + writer.finish())
        guard let client = CommitClientID(bytes: digest.prefix(CommitClientID.byteCount)) else { return try await apply(write) }
        let fingerprint = digest.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
        let identity = CommitIdentity(client: client.shortLived, number: 1, after: 0, fingerprint: fingerprint)
        return try await apply(write, identity: identity)
    }
}

extension [ErrorDescription] {
    /// The errors of methods that write.
    static let writeErrors = [
        ErrorDescription(
            status: .invalidArgument,
            "A path, field path, value or transform, or the resulting document, is invalid."
        ),
        ErrorDescription(status: .notFound, "The document does not exist, but the precondition requires it."),
        ErrorDescription(status: .alreadyExists, "The document exists, but the precondition forbids it."),
        ErrorDescription(status: .failedPrecondition, "The update time of the document differs from the precondition."),
        ErrorDescription(status: .resourceExhausted, "The disk is full."),
        ErrorDescription(status: .dataLoss, "The document file is damaged; the error includes the location."),
        ErrorDescription(status: .unavailable, "The store does not currently accept writes."),
    ]
}
