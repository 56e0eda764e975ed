internal import DocumentModel
internal import DocumentStore
internal import Logging
internal import StorageIO

/// Applies commits to the document files: stages their documents before they are durable, and changes the files afterward.
///
/// A document whose file can't be changed is added to ``UnappliedDocuments``, which readers overlay on the files, until a retry
/// succeeds.
struct DocumentApplier: ~Copyable {
    private let files: DocumentFiles
    private let unapplied: UnappliedDocuments
    private let logger: Logger
    private var fileWriter: DocumentFileWriter

    init(_ fileWriter: consuming DocumentFileWriter, unapplied: UnappliedDocuments, logger: Logger) {
        files = fileWriter.files
        self.unapplied = unapplied
        self.logger = logger
        self.fileWriter = fileWriter
    }

    /// True if a temporary file could not be removed, so that the next start must sweep.
    var hasLeftoverTemporaryFile: Bool { fileWriter.hasLeftoverTemporaryFile }

    /// Reads the current document at `path`, or returns nil if there is none.
    ///
    /// - Parameter damagedFile: The contents of the document's damaged file, if the caller has read them to replace them.
    mutating func document(
        at path: DocumentPath,
        replacing damagedFile: DamagedFileSnapshot?
    ) throws(StatusError) -> EncodedDocument? {
        if let image = unapplied.image(of: path) { return image }
        guard let damagedFile else { return try fileWriter.document(at: path) }
        return try fileWriter.document(at: path, replacing: damagedFile)
    }

    /// Writes the changed documents to temporary files, and checks the files to be removed.
    ///
    /// - Throws: The error of the first document for which that fails, after discarding the others.
    mutating func stage(_ changes: [NetDocumentChange]) throws(StatusError) -> [DocumentFileWriter.StagedDocument] {
        var staged: [DocumentFileWriter.StagedDocument] = []
        do throws(StatusError) {
            for change in changes {
                if let document = change.document {
                    staged.append(try fileWriter.stage(document, isNew: change.isNew))
                } else {
                    try fileWriter.checkIsRemovable(change.path)
                }
            }
        } catch {
            fileWriter.discard(staged)
            throw error
        }
        return staged
    }

    /// Removes staged documents that are not applied.
    ///
    /// - Parameter staged: Consumed, because unnamed files take space while they are open.
    mutating func discard(_ staged: consuming [DocumentFileWriter.StagedDocument]) {
        fileWriter.discard(staged)
    }

    /// Applies a durable batch: renames the staged files into place and removes the files of deleted documents.
    mutating func apply(_ changes: [NetDocumentChange], _ staged: [DocumentFileWriter.StagedDocument]) {
        files.log.beginBatch(changes.map(\.path))
        defer { files.log.endBatch() }
        for staged in staged {
            apply(staged.document, at: staged.document.path) { fileWriter throws(StatusError) in
                try fileWriter.moveIntoPlace(staged)
            }
        }
        var emptied: Set<CollectionPath> = []
        for change in changes where change.document == nil {
            apply(nil, at: change.path) { fileWriter throws(StatusError) in try fileWriter.remove(change.path) }
            emptied.insert(change.path.collection)
        }
        fileWriter.removeEmptyFolders(of: emptied)
    }

    /// Changes one file; when that fails, adds its document to the unapplied ones.
    private mutating func apply(
        _ image: EncodedDocument?,
        at path: DocumentPath,
        _ body: (inout DocumentFileWriter) throws(StatusError) -> Void
    ) {
        do throws(StatusError) {
            try body(&fileWriter)
        } catch {
            unapplied.insert(image, at: path, because: error)
            logger.error(
                "Failed to apply a durable commit to its document file; rejecting writes until it succeeds",
                metadata: [
                    "document.path": "\(path)", "error": "\(error)", "error.cause": "\(error.cause.map { "\($0)" } ?? "")",
                ]
            )
        }
    }

    /// Closes all folders, so that the next batch reopens them.
    mutating func endBatch() {
        fileWriter.endBatch()
    }
}

// MARK: - Retries

extension DocumentApplier {
    /// Retries the unapplied documents; returns the error for subsequent writes, or nil if all files have been changed.
    mutating func retryUnapplied() -> StatusError? {
        for (path, image) in unapplied.blocking {
            do throws(StatusError) {
                if let image {
                    try fileWriter.moveIntoPlace(fileWriter.stage(image))
                } else {
                    try fileWriter.remove(path)
                }
                unapplied.remove(path)
            } catch {
                unapplied.insert(image, at: path, because: error)
                return unapplied.writeBlockedError
            }
        }
        return nil
    }

    /// Retries the recovery of a quarantined document, before it is written. Has no effect for any other document.
    mutating func retryQuarantined(_ path: DocumentPath) throws(StatusError) {
        guard let (image, time) = unapplied.quarantinedImage(of: path) else { return }
        do throws(StatusError) {
            _ = try fileWriter.restore(path, to: image, committedAt: time, logger: logger)
        } catch {
            var refusal = error
            if error.preventsSingleFileAccess { refusal.code = .failedPrecondition }
            refusal.path = path.string
            throw refusal
        }
        unapplied.remove(path)
    }

    /// Retries all quarantined documents up to the first that fails; returns its error, or nil.
    mutating func retryQuarantined() -> StatusError? {
        defer { fileWriter.endBatch() }
        for document in unapplied.quarantined {
            do throws(StatusError) {
                try retryQuarantined(document.path)
            } catch {
                return error
            }
        }
        return nil
    }
}
