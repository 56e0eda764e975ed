package import DocumentModel

/// A writer of many documents: batches their writes into commits, and reports each rejected document with its origin.
package struct BulkWriter<Element> {
    /// Commits the writes of documents; all of them, or none.
    package typealias Commit = ([Element]) async throws(StatusError) -> Void

    private let commit: Commit
    private let onRejection: (ImportOrigin, StatusError) -> Void
    private var pending: [(origin: ImportOrigin, element: Element)] = []
    private var pendingBytes = 0
    /// The number of written documents.
    package private(set) var writtenCount = 0
    /// The number of rejected documents.
    package private(set) var rejectedCount = 0
    /// The origin of the first document whose write the server has not acknowledged, if the server failed.
    package private(set) var firstUnacknowledgedOrigin: ImportOrigin?

    /// The maximum size of a commit, well below the maximum size of a request.
    private static var maximumCommitBytes: Int { 4 << 20 }
    private static var maximumCommitCount: Int { 500 }

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - commit: Commits a batch of writes.
    ///   - onRejection: Called for each rejected document.
    package init(commit: @escaping Commit, onRejection: @escaping (ImportOrigin, StatusError) -> Void) {
        self.commit = commit
        self.onRejection = onRejection
    }

    /// Adds the write of a document, and commits the pending ones if the batch is full.
    ///
    /// - Parameter byteCount: The approximate size of the document in a request.
    /// - Throws: A server error that is not about a single document.
    package mutating func write(_ element: Element, byteCount: Int, from origin: ImportOrigin) async throws(StatusError) {
        if !pending.isEmpty && (pending.count >= Self.maximumCommitCount || pendingBytes + byteCount > Self.maximumCommitBytes) {
            try await flush()
        }
        pending.append((origin, element))
        pendingBytes += byteCount
    }

    /// Reports a document that could not be parsed.
    package mutating func reject(_ origin: ImportOrigin, _ error: StatusError) {
        rejectedCount += 1
        onRejection(origin, error)
    }

    /// Commits the pending documents.
    package mutating func flush() async throws(StatusError) {
        let documents = pending
        pending.removeAll()
        pendingBytes = 0
        guard !documents.isEmpty else { return }
        try await send(documents[...])
    }

    /// Commits documents in one commit. If one of them is rejected, bisects the batch to find it and commits the others.
    private mutating func send(_ documents: ArraySlice<(origin: ImportOrigin, element: Element)>) async throws(StatusError) {
        do throws(StatusError) {
            try await commit(documents.map(\.element))
            writtenCount += documents.count
        } catch {
            guard error.isDocumentError else {
                firstUnacknowledgedOrigin = documents.first?.origin
                throw error
            }
            guard documents.count > 1 else { return reject(documents[documents.startIndex].origin, error) }
            let middle = documents.startIndex + documents.count / 2
            try await send(documents[..<middle])
            try await send(documents[middle...])
        }
    }
}

extension BulkWriter<Write> {
    /// Adds the write of a document, and commits the pending ones if the batch is full.
    ///
    /// - Parameters:
    ///   - precondition: The precondition of the write. Without one, the write replaces an existing document.
    ///   - byteCount: The approximate size of the document in a request.
    /// - Throws: A server error that is not about a single document.
    package mutating func write(
        _ fields: MapValue,
        at path: DocumentPath,
        precondition: Precondition = .none,
        byteCount: Int,
        from origin: ImportOrigin
    ) async throws(StatusError) {
        try await write(try Write.set(path, fields, precondition: precondition), byteCount: byteCount, from: origin)
    }
}

/// The origin of an imported document: a line of a file.
package struct ImportOrigin: Hashable, Sendable, CustomStringConvertible {
    package let file: String
    package let line: Int

    /// Creates the origin for a line of a file.
    package init(file: String, line: Int) {
        (self.file, self.line) = (file, line)
    }

    package var description: String { "\(file):\(line)" }
}

extension StatusError {
    /// True if the error is about one document. Any other error is about the server, which would then reject every document.
    package var isDocumentError: Bool {
        switch code {
        case .invalidArgument, .failedPrecondition, .alreadyExists, .notFound, .outOfRange, .dataLoss: true
        default: false
        }
    }
}
