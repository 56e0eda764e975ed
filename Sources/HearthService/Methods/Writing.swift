import DocumentModel
import DocumentStore
import JSONRPC

extension ServiceContext {
    /// Commits one write.
    func apply(_ write: Write) async throws(StatusError) -> WriteResult {
        let commit: CommitResult
        do throws(StatusError) {
            commit = try await store.commit([write])
        } catch {
            var error = error
            // The caller gave one write and no list to count in.
            error.writeIndex = nil
            throw error
        }
        guard let result = commit.writeResults.first else {
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
