package import DocumentModel
package import DocumentStore
import JSONRPC

extension ServiceContext {
    /// Commits writes in the caller's name, where what was read still holds.
    package func commit(
        _ writes: [Write],
        validating reads: ReadSet = ReadSet()
    ) async throws(StatusError) -> CommitResult {
        try await store.commit(writes, validating: reads, by: caller.keyID)
    }

    /// Commits one write that its caller gave alone, so that its errors count in no list.
    package func commit(
        _ write: Write,
        validating reads: ReadSet = ReadSet()
    ) async throws(StatusError) -> CommitResult {
        do throws(StatusError) {
            return try await commit([write], validating: reads)
        } catch {
            var error = error
            error.writeIndex = nil
            throw error
        }
    }

    /// Commits one write that its caller gave alone, for its own result.
    func apply(_ write: Write) async throws(StatusError) -> WriteResult {
        guard let result = try await commit(write).writeResults.first else {
            throw StatusError(.internal, "The commit of one write had no result.", path: write.path.string)
        }
        return result
    }
}

extension [ErrorDescription] {
    /// The errors of methods that write.
    static let ofWrites = [
        ErrorDescription(
            status: .invalidArgument,
            "A path, field path, value, transform or the document as a whole breaks a rule."
        ),
        ErrorDescription(status: .notFound, "The document must exist, and does not."),
        ErrorDescription(status: .alreadyExists, "The document must not exist, and does."),
        ErrorDescription(status: .failedPrecondition, "The document was changed at another time than the precondition says."),
        ErrorDescription(status: .resourceExhausted, "There is no space left."),
        ErrorDescription(status: .dataLoss, "The document's file is damaged; the error says where."),
        ErrorDescription(status: .unavailable, "Documents cannot be written now."),
    ]
}
