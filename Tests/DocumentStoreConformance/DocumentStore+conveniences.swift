import DocumentModel
import DocumentStore
import Testing
import UTF8Text

extension DocumentStore {
    /// Replaces a document by one with a field `v`.
    @discardableResult
    func set(_ path: String, _ version: Int64 = 1, by author: UTF8Key? = nil) async throws -> CommitResult {
        try await commit(
            [.set(DocumentPath(path), ["v": .integer(version)])],
            validating: ReadSet(),
            by: CommitAuthor(keyID: author)
        )
    }

    @discardableResult
    func delete(_ path: String) async throws -> CommitResult {
        try await commit([.delete(DocumentPath(path))])
    }

    /// Returns the field `v` of a document; `nil` if the document does not exist.
    func version(_ path: String, at time: Timestamp? = nil) async throws -> Value? {
        try await document(at: DocumentPath(path), readTime: time)?.decoded().fields["v"]
    }

    /// The sequence number of the last commit, even if the known position does not include it yet.
    var lastSequence: SequenceNumber {
        get async throws { try await safePosition().lastSequence }
    }

    /// The time of the last commit; the minimum timestamp before the first.
    var lastCommitTime: Timestamp {
        get async throws { try await safePosition().lastCommitTime ?? .minimum }
    }

    /// Returns the paths of all documents of a collection, page by page; missing ones with a question mark.
    func list(
        _ collection: String,
        limit: Int = 100,
        includingMissing: Bool = false,
        at time: Timestamp? = nil
    ) async throws -> [String] {
        var entries: [ListedDocument] = []
        var after: DocumentPath.ID?
        repeat {
            let page = try await documents(
                in: CollectionPath(collection),
                after: after,
                limit: limit,
                includingMissing: includingMissing,
                readTime: time
            )
            #expect(page.documents.count <= limit)
            entries += page.documents
            after = page.next
        } while after != nil
        return entries.map { entry in
            switch entry {
            case .document(let document): document.path.string
            case .missing(let path): path.string + "?"
            }
        }
    }

    /// Returns the IDs of all collections under a document or of the root, page by page.
    func listCollections(under parent: String? = nil, limit: Int = 100, at time: Timestamp? = nil) async throws -> [String] {
        var found: [CollectionID] = []
        var after: CollectionID?
        let parent = try parent.map { try DocumentPath($0) }
        repeat {
            let page = try await collections(under: parent, after: after, limit: limit, readTime: time)
            found += page.collections
            after = page.next
        } while after != nil
        return found.map(\.key.string)
    }

    /// Returns the first commits after a sequence number.
    func firstCommits(_ count: Int, after sequence: SequenceNumber) async throws -> [Commit] {
        var iterator = commits(after: sequence).makeAsyncIterator()
        var commits: [Commit] = []
        while commits.count < count, let commit = try await iterator.next() { commits.append(commit) }
        return commits
    }
}

/// Expects a status error with a code.
func expectError(
    _ code: StatusCode,
    _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async {
    let error = await #expect(throws: StatusError.self, comment, sourceLocation: sourceLocation) { try await body() }
    #expect(error?.code == code, comment, sourceLocation: sourceLocation)
}
