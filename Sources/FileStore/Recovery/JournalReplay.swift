internal import DocumentModel
internal import DocumentStore
internal import Logging
internal import StorageIO

/// Replays the journal: brings the document files to their last committed state.
///
/// A file is rewritten even when it looks intact, because the file system may show contents that never reached the disk. Only a
/// file that was edited, or is newer than the journal, is kept. Replaying is idempotent.
struct JournalReplay {
    /// The number of replayed commits.
    private(set) var commitCount = 0
    /// The number of files written or removed.
    private(set) var documentCount = 0
    /// The documents whose files can't be written, with the errors.
    private(set) var unwritable: [(document: QuarantinedDocument, error: StatusError)] = []

    private var images: [DocumentPath: (image: EncodedDocument?, time: Timestamp)]

    /// Creates a replay that begins with the documents quarantined by an earlier start.
    init(_ quarantined: [QuarantinedDocument]) {
        images = Dictionary(quarantined.map { ($0.path, ($0.image, $0.time)) }) { $1 }
    }

    /// Adds the next commit of the journal.
    mutating func add(_ commit: Commit) {
        commitCount += 1
        for change in commit.changes { images[change.path] = (change.after, commit.time) }
    }

    /// Writes and removes the files.
    ///
    /// - Throws: An error that affects more than one file. A document whose file alone can't be written is added to ``unwritable``.
    mutating func run(_ fileWriter: inout DocumentFileWriter, logger: Logger) throws(StatusError) {
        var emptied: Set<CollectionPath> = []
        for (path, (image, time)) in images {
            do throws(StatusError) {
                guard try fileWriter.restore(path, to: image, committedAt: time, logger: logger) else { continue }
                if image == nil { emptied.insert(path.collection) }
                documentCount += 1
            } catch {
                guard error.preventsSingleFileAccess else { throw error }
                unwritable.append((QuarantinedDocument(path: path, image: image, time: time), error))
            }
        }
        fileWriter.removeEmptyFolders(of: emptied)
        fileWriter.endBatch()
    }
}
