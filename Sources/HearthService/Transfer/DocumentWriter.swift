package import DocumentModel

/// Writes many documents, as many to a commit as fit, and says of each that is refused where it came from.
package struct DocumentWriter {
    /// Commits writes together: all of them, or none.
    package typealias Commit = ([Write]) async throws(StatusError) -> Void

    private let commit: Commit
    private let onRefusal: (Origin, StatusError) -> Void
    private var pending: [(origin: Origin, write: Write)] = []
    private var pendingBytes = 0
    /// How many documents the server has taken.
    package private(set) var writtenCount = 0
    /// How many were refused.
    package private(set) var refusedCount = 0
    /// Where the documents begin of which a failed server didn't say that it has taken them.
    package private(set) var failureOrigin: Origin?

    /// Where a document comes from.
    package struct Origin: Hashable, Sendable, CustomStringConvertible {
        package let file: String
        package let line: Int

        /// A line of a file.
        package init(file: String, line: Int) {
            (self.file, self.line) = (file, line)
        }

        package var description: String { "\(file):\(line)" }
    }

    /// A commit stays well below what a server takes in one call.
    private static let maximumCommitBytes = 4 << 20
    private static let maximumCommitCount = 500

    /// Makes a writer; `onRefusal` is told of every document that is not taken.
    package init(commit: @escaping Commit, onRefusal: @escaping (Origin, StatusError) -> Void) {
        self.commit = commit
        self.onRefusal = onRefusal
    }

    /// Takes a document; `byteCount` is about how much it is to send.
    ///
    /// - Parameter precondition: What must be so; without one it replaces the document of that path.
    /// - Throws: What keeps the server from writing any document.
    package mutating func write(
        _ fields: MapValue,
        at path: DocumentPath,
        precondition: Precondition = .none,
        byteCount: Int,
        from origin: Origin
    ) async throws(StatusError) {
        if !pending.isEmpty && (pending.count >= Self.maximumCommitCount || pendingBytes + byteCount > Self.maximumCommitBytes) {
            try await flush()
        }
        pending.append((origin, try Write.set(path, fields, precondition: precondition)))
        pendingBytes += byteCount
    }

    /// Notes a document that could not even be read.
    package mutating func refuse(_ origin: Origin, _ error: StatusError) {
        refusedCount += 1
        onRefusal(origin, error)
    }

    /// Sends what has been taken so far.
    package mutating func flush() async throws(StatusError) {
        let documents = pending
        pending.removeAll()
        pendingBytes = 0
        guard !documents.isEmpty else { return }
        try await send(documents[...])
    }

    /// Sends documents in one commit, and where one of them is at fault each half for itself, down to that document.
    private mutating func send(_ documents: ArraySlice<(origin: Origin, write: Write)>) async throws(StatusError) {
        do throws(StatusError) {
            try await commit(documents.map(\.write))
            writtenCount += documents.count
        } catch {
            guard error.isFaultOfDocument else {
                failureOrigin = documents.first?.origin
                throw error
            }
            guard documents.count > 1 else { return refuse(documents[documents.startIndex].origin, error) }
            let middle = documents.startIndex + documents.count / 2
            try await send(documents[..<middle])
            try await send(documents[middle...])
        }
    }
}

extension StatusError {
    /// Whether it is a document that the server doesn't take. All else says something of the server, which then may well
    /// refuse one sound document after the other.
    fileprivate var isFaultOfDocument: Bool {
        switch code {
        case .invalidArgument, .failedPrecondition, .alreadyExists, .notFound, .outOfRange, .dataLoss: true
        default: false
        }
    }
}
