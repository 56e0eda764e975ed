internal import Concurrency
package import DocumentModel
internal import DocumentStore
internal import StorageIO

/// A new data folder that is made of documents with their create and update times, without a server.
///
/// The folder exists once ``complete()`` returns. Its documents are those of its first commit; what was before that commit is not
/// known to it.
package actor DataFolderImport {
    private nonisolated let executor = SerialQueueExecutor(label: "hearth.import")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let progress: FolderInProgress
    private let data: DataFolder
    private var writer: DocumentFileWriter
    /// The time of the first commit. No document has a later one.
    package nonisolated let time = Timestamp.current()
    private var hasDocuments = false
    private var isComplete = false

    /// Begins to make a data folder with the default database.
    ///
    /// - Parameter path: The path of the data folder, in an existing folder.
    /// - Throws: `.failedPrecondition` if there is something at its path; the errors of writing files.
    package static func begin(at path: String) async throws(StatusError) -> DataFolderImport {
        try await WorkQueue(label: "hearth.import.begin", width: 1).run { () throws(StatusError) in
            try DataFolderImport(at: path)
        }
    }

    private init(at path: String) throws(StatusError) {
        progress = try FolderInProgress(at: path, advice: "Import into a new folder, or into a running server with --server.")
        do throws(StatusError) {
            data = try DataFolder.open(progress.path)
        } catch {
            progress.discard()
            throw error
        }
        let cache = DocumentCache(maximumBytes: 0)
        writer = DocumentFileWriter(DocumentFiles(DocumentFolders(data), cache: cache, log: ApplyLog()), cache: cache)
    }

    /// Writes documents. One replaces an earlier one at its path.
    ///
    /// - Throws: `.invalidArgument` for a document that was created after its update or updated in the future, before anything is
    ///   written; the errors of writing files.
    package func write(_ documents: [Document]) throws(StatusError) {
        for document in documents { try document.checkTimes(upTo: time) }
        for document in documents {
            try writer.write(EncodedDocument(document))
            hasDocuments = true
        }
        writer.endBatch()
    }

    /// Gives the data folder its name. It is complete and durable when this returns.
    package func complete() throws(StatusError) {
        if hasDocuments {
            try data.update { manifest in
                manifest.sequence = manifest.sequence.next
                manifest.commitTime = time
                // There are no commits to compare the files with.
                manifest.acceptedSequence = manifest.sequence
            }
        }
        try progress.complete()
        isComplete = true
        data.unlock()
    }

    /// Removes what has been written. Has no effect on a complete folder.
    package func discard() {
        guard !isComplete else { return }
        data.unlock()
        progress.discard()
    }
}
