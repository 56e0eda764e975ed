import DocumentModel
import HearthClient

/// Sends many documents to a server, as many to a commit as fit, and says of each that is refused where it came from.
struct DocumentWriter {
    private let connection: HearthConnection
    private let onRefusal: (Origin, StatusError) -> Void
    private var pending: [(origin: Origin, write: Write)] = []
    private var pendingBytes = 0
    /// How many documents the server has taken.
    private(set) var writtenCount = 0
    /// How many were refused.
    private(set) var refusedCount = 0

    /// Where a document comes from.
    struct Origin: CustomStringConvertible {
        let file: String
        let line: Int

        var description: String { "\(file):\(line)" }
    }

    /// A commit stays well below what a server takes in one call.
    private static let maximumCommitBytes = 4 << 20
    private static let maximumCommitCount = 500

    /// Makes a writer; `onRefusal` is told of every document that is not taken.
    init(_ connection: HearthConnection, onRefusal: @escaping (Origin, StatusError) -> Void) {
        self.connection = connection
        self.onRefusal = onRefusal
    }

    /// Takes a document, which replaces the one of that path; `byteCount` is about how much it is to send.
    ///
    /// - Throws: When the server can't be reached or lets nothing be written.
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
        if try await commit(documents[...]) { return }
        // One document is at fault and the commit was all or nothing: each for itself finds it.
        for index in documents.indices { _ = try await commit(documents[index...index]) }
    }

    /// Whether the documents have been dealt with: taken, or as a single one refused.
    private mutating func commit(_ documents: ArraySlice<(origin: Origin, write: Write)>) async throws(StatusError) -> Bool {
        do {
            _ = try await connection.commit(documents.map(\.write))
            writtenCount += documents.count
            return true
        } catch {
            guard error.isAboutTheDocuments else { throw error }
            guard let document = documents.first, documents.count == 1 else { return false }
            refuse(document.origin, error)
            return true
        }
    }
}

extension StatusError {
    /// Whether another document could still be taken where this error was the answer to some.
    fileprivate var isAboutTheDocuments: Bool {
        switch code {
        case .cancelled, .deadlineExceeded, .permissionDenied, .unauthenticated, .unavailable, .unimplemented: false
        default: true
        }
    }
}
