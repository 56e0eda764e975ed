import DocumentModel
import HearthClient

/// Sends many documents to a server, as many to a commit as fit, and says of each that is refused where it came from.
struct DocumentWriter {
    /// Commits writes together: all of them, or none.
    typealias Commit = ([Write]) async throws(StatusError) -> Void

    private let commit: Commit
    private let onRefusal: (Origin, StatusError) -> Void
    private var pending: [(origin: Origin, write: Write)] = []
    private var pendingBytes = 0
    /// How many documents the server has taken.
    private(set) var writtenCount = 0
    /// How many were refused.
    private(set) var refusedCount = 0
    /// Where the documents begin of which a failed server didn't say that it has taken them.
    private(set) var failureOrigin: Origin?

    /// Where a document comes from.
    struct Origin: Hashable, CustomStringConvertible {
        let file: String
        let line: Int

        var description: String { "\(file):\(line)" }
    }

    /// A commit stays well below what a server takes in one call.
    private static let maximumCommitBytes = 4 << 20
    private static let maximumCommitCount = 500

    /// Makes a writer; `onRefusal` is told of every document that is not taken.
    init(commit: @escaping Commit, onRefusal: @escaping (Origin, StatusError) -> Void) {
        self.commit = commit
        self.onRefusal = onRefusal
    }

    /// Makes a writer that says on standard error which documents a server doesn't take, and why.
    init(_ connection: HearthConnection) {
        self.init { writes throws(StatusError) in
            _ = try await connection.commit(writes)
        } onRefusal: { origin, error in
            Console.standardError.report("\(origin): \(error)")
        }
    }

    /// Takes a document, which replaces the one of that path; `byteCount` is about how much it is to send.
    ///
    /// - Throws: What keeps the server from writing any document.
    mutating func write(_ fields: MapValue, at path: DocumentPath, byteCount: Int, from origin: Origin) async throws(StatusError)
    {
        if !pending.isEmpty && (pending.count >= Self.maximumCommitCount || pendingBytes + byteCount > Self.maximumCommitBytes) {
            try await flush()
        }
        pending.append((origin, try Write.set(path, fields)))
        pendingBytes += byteCount
    }

    /// Notes a document that could not even be read.
    mutating func refuse(_ origin: Origin, _ error: StatusError) {
        refusedCount += 1
        onRefusal(origin, error)
    }

    /// Sends what has been taken so far.
    mutating func flush() async throws(StatusError) {
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
