internal import DocumentModel
internal import DocumentStore
internal import Logging
internal import StorageIO

/// Applies commits to the document files: stages their documents before they are durable, and changes the files afterward.
///
/// A document whose file cannot be changed is added to ``UnappliedDocuments``, which readers overlay on the files, until a retry
/// succeeds.
struct DocumentApplier: ~Copyable {
    private let data: DataFolder
    private let files: DocumentFiles
    private let unapplied: UnappliedDocuments
    private let logger: Logger
    private var fileWriter: DocumentFileWriter
    /// The edits of the batch whose files keep their texts.
    private var keptEdits: [DocumentPath: FileEdit] = [:]
    /// The large batch whose files are being written.
    private var installation: Installation?

    /// The files of a batch, ready to be put into place once the batch is durable.
    enum StagedBatch {
        /// All files have been written, but for those that keep the texts of edits.
        case written([DocumentFileWriter.StagedDocument], keptTexts: [StagedText])
        /// The files are written afterward, in steps.
        case deferred(SpaceReservation)
    }

    /// A document whose file has the text of the edit that the commit is of, and is not written.
    struct StagedText {
        fileprivate let document: EncodedDocument
        fileprivate let text: UnappliedDocuments.KeptText
    }

    /// The installation of a large batch.
    private struct Installation {
        /// The changes whose files have not been changed yet.
        var changes: ArraySlice<NetDocumentChange>
        var reservation: SpaceReservation
    }

    init(_ fileWriter: consuming DocumentFileWriter, in data: DataFolder, unapplied: UnappliedDocuments, logger: Logger) {
        self.data = data
        files = fileWriter.files
        self.unapplied = unapplied
        self.logger = logger
        self.fileWriter = fileWriter
    }

    /// True if a temporary file could not be removed, so that the next startup must sweep.
    var hasLeftoverTemporaryFile: Bool { fileWriter.hasLeftoverTemporaryFile }

    /// Reads the current document at `path`, or returns `nil` if there is none.
    ///
    /// - Parameter damagedFile: The contents of the document's damaged file, if the caller has read it in order to replace it.
    mutating func document(
        at path: DocumentPath,
        replacing damagedFile: DamagedFileSnapshot?
    ) throws(StatusError) -> EncodedDocument? {
        if let (document, text) = unapplied.keptText(of: path) {
            guard try fileWriter.identity(of: path) == text.identity else { throw StatusError.uncommittedEdit(of: document) }
            return document
        }
        if let image = unapplied.image(of: path) { return image }
        guard let damagedFile else { return try fileWriter.document(at: path) }
        return try fileWriter.document(at: path, replacing: damagedFile)
    }

    /// Returns the document that an edit of its file changes; `nil` if it did not exist, or if its version is not known.
    ///
    /// - Throws: `.aborted` if the file has changed since.
    mutating func version(before edit: FileEdit) throws(StatusError) -> EncodedDocument? {
        guard isApplied(edit.path), try fileWriter.identity(of: edit.path) == edit.identity else {
            throw StatusError(.aborted, "The file of the document has changed again.", path: edit.path.string)
        }
        fileWriter.replaceEdit(of: edit.path, edit.identity, edit.contents)
        keptEdits[edit.path] = edit.keepsText ? edit : nil
        return if case .known(let document) = edit.base { document } else { nil }
    }

    /// Writes the file of the last committed version of a document anew, unless the file has changed.
    ///
    /// - Returns: `false` if the file could not be written. It stays as it is, which the next reads return.
    mutating func rewrite(_ document: EncodedDocument, ifFileIs identity: FileIdentity?) -> Bool {
        guard isApplied(document.path), (try? fileWriter.identity(of: document.path)) == identity else { return true }
        fileWriter.replaceEdit(of: document.path, identity)
        do throws(StatusError) {
            // No recovery would write it again.
            try fileWriter.write(document, synchronizing: true)
            unapplied.remove(document.path)
            return true
        } catch {
            logger.warning(
                "Cannot write the file of a document in its form; trying again in some seconds",
                metadata: ["document.path": "\(document.path)", "error": "\(error)"]
            )
            return false
        }
    }

    /// Lets the file of the last committed version of a document keep its text, which has the same fields, unless it has changed.
    ///
    /// - Returns: `false` if too many files keep theirs.
    mutating func keepText(_ edit: FileEdit, of document: EncodedDocument) -> Bool {
        guard isApplied(document.path), (try? fileWriter.identity(of: document.path)) == edit.identity,
            let text = edit.keptText
        else { return true }
        return keep(StagedText(document: document, text: text))
    }

    private func keep(_ staged: StagedText) -> Bool {
        guard unapplied.keep(staged.text, of: staged.document) else { return false }
        fileWriter.cache.insert(staged.document, identity: staged.text.identity)
        return true
    }

    /// Returns whether a document's file is that of its last commit, in any form.
    private func isApplied(_ path: DocumentPath) -> Bool {
        unapplied.image(of: path) == nil || unapplied.keptText(of: path) != nil
    }

    /// Writes the changed documents to temporary files, and checks the files to be removed.
    ///
    /// - Throws: The error of the first document for which that fails, after discarding the others.
    mutating func stage(_ changes: [NetDocumentChange]) throws(StatusError) -> StagedBatch {
        var staged: [DocumentFileWriter.StagedDocument] = []
        var keptTexts: [StagedText] = []
        do throws(StatusError) {
            for change in changes {
                if let document = change.document {
                    if let text = try keptText(of: document) {
                        keptTexts.append(StagedText(document: document, text: text))
                        continue
                    }
                    staged.append(try fileWriter.stage(document, isNew: change.isNew))
                } else {
                    try fileWriter.checkIsRemovable(change.path)
                }
            }
        } catch {
            fileWriter.discard(staged)
            throw error
        }
        return .written(staged, keptTexts: keptTexts)
    }

    /// Returns the text that a document's file keeps; `nil` if it is written anew.
    private func keptText(of document: EncodedDocument) throws(StatusError) -> UnappliedDocuments.KeptText? {
        // Another commit of the batch may have changed the document after the edit.
        guard let edit = keptEdits[document.path], try document.decoded().fields == edit.contents?.fields else { return nil }
        return edit.keptText
    }

    /// Reserves the space of a large batch, whose documents have been checked with ``checkIsWritable(_:creatingFolder:)``.
    func stageLarge(_ changes: [NetDocumentChange]) throws(StatusError) -> StagedBatch {
        let byteCount = changes.reduce(0) { $0 + $1.fileBytes }
        let fileCount = changes.count { $0.isNew && $0.document != nil }
        return .deferred(
            try reporting("reserve space in", DataFolder.documentsName) { () throws(FileSystemError) in
                try SpaceReservation(byteCount: byteCount, fileCount: fileCount, in: data.documents)
            }
        )
    }

    /// Removes staged documents that are not applied.
    ///
    /// - Parameter staged: Consumed, because unnamed files and reservations take space while they are open.
    mutating func discard(_ staged: consuming StagedBatch) {
        if case .written(let documents, _) = staged { fileWriter.discard(documents) }
    }

    /// Applies a durable batch: renames the staged files into place and removes the files of deleted documents.
    ///
    /// Readers get the documents of a deferred batch from memory, until ``install(until:)`` has written their files.
    ///
    /// - Parameter first: The first commit of the batch.
    mutating func apply(_ changes: [NetDocumentChange], _ staged: consuming StagedBatch, first: SequenceNumber) {
        switch staged {
        case .written(let documents, let keptTexts): apply(changes, documents, keptTexts)
        case .deferred(let reservation):
            unapplied.beginInstalling(changes, first: first)
            installation = Installation(changes: changes[...], reservation: reservation)
        }
    }

    private mutating func apply(
        _ changes: [NetDocumentChange],
        _ staged: [DocumentFileWriter.StagedDocument],
        _ keptTexts: [StagedText]
    ) {
        files.log.beginBatch(changes.map(\.path))
        defer { files.log.endBatch() }
        for staged in staged {
            apply(staged.document, at: staged.document.path) { fileWriter throws(StatusError) in
                try fileWriter.moveIntoPlace(staged)
            }
        }
        for staged in keptTexts where !keep(staged) {
            apply(staged.document, at: staged.document.path) { fileWriter throws(StatusError) in
                try fileWriter.write(staged.document)
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
            // A document of a large batch that is being installed, and was changed again.
            unapplied.remove(path)
        } catch {
            let isFirst = unapplied.writeBlockedError == nil
            unapplied.insert(image, at: path, because: error)
            logger.log(
                level: isFirst ? .error : .debug,
                "Failed to apply a durable commit to its document file; rejecting writes until it succeeds",
                metadata: [
                    "document.path": "\(path)", "error": "\(error)", "error.cause": "\(error.cause.map { "\($0)" } ?? "")",
                ]
            )
        }
    }

    /// Closes all folders, so that the next batch reopens them.
    mutating func endBatch() {
        keptEdits.removeAll(keepingCapacity: true)
        fileWriter.endBatch()
    }
}

// MARK: - Large batches

extension DocumentApplier {
    /// Checks before the commit whether a document's file can be changed later.
    ///
    /// - Parameter creatingFolder: True if the document may be created.
    mutating func checkIsWritable(_ path: DocumentPath, creatingFolder: Bool) throws(StatusError) {
        if creatingFolder { try fileWriter.checkIsWritable(path) } else { try fileWriter.checkIsRemovable(path) }
    }

    /// Removes folders that ``checkIsWritable(_:creatingFolder:)`` created for documents that were not written.
    func removeEmptyFolders(of collections: Set<CollectionPath>) {
        fileWriter.removeEmptyFolders(of: collections)
    }

    /// True while files of a large batch remain to be changed.
    var isInstalling: Bool { installation != nil }

    /// Changes the next files of the large batch, until a deadline or the end; at least a few.
    mutating func install(until deadline: ContinuousClock.Instant) {
        guard var installation else { return }
        self.installation = nil
        while !installation.changes.isEmpty {
            let step = installation.changes.prefix(Self.installationStep)
            installation.changes = installation.changes.dropFirst(Self.installationStep)
            installation.reservation.release(step.reduce(0) { $0 + $1.fileBytes })
            install(step)
            if ContinuousClock.now >= deadline { break }
        }
        if installation.changes.isEmpty {
            unapplied.endInstalling()
        } else {
            self.installation = installation
        }
    }

    /// The number of files that are changed between two looks at the clock.
    private static let installationStep = 8

    private mutating func install(_ changes: ArraySlice<NetDocumentChange>) {
        files.log.beginBatch(changes.map(\.path))
        defer { files.log.endBatch() }
        let data = data
        var emptied: Set<CollectionPath> = []
        for change in changes where unapplied.isInstalling(change.path) {
            apply(change.document, at: change.path) { fileWriter throws(StatusError) in
                guard let document = change.document else { return try fileWriter.remove(change.path) }
                // Others may have taken the space that was just released.
                try data.usingReserve { () throws(StatusError) in try fileWriter.write(document, isNew: change.isNew) }
            }
            if change.document == nil { emptied.insert(change.path.collection) }
        }
        guard !emptied.isEmpty else { return }
        fileWriter.removeEmptyFolders(of: emptied)
        // A folder that was removed must not be used again.
        fileWriter.endBatch()
    }
}

// MARK: - Retries

extension DocumentApplier {
    /// Retries the unapplied documents; returns the error for subsequent writes, or `nil` if all files have been changed.
    mutating func retryUnapplied() -> StatusError? {
        for (path, image) in unapplied.blocking {
            do throws(StatusError) {
                if let image {
                    try data.usingReserve { () throws(StatusError) in try fileWriter.write(image) }
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

    /// Retries the recovery of a quarantined document, before it is written or an edit of it is taken. Has no effect on any other document.
    ///
    /// - Parameter keepsEdited: True to keep the document quarantined if its file is an edit, which may know an earlier version only.
    mutating func retryQuarantined(_ path: DocumentPath, keepingEdited keepsEdited: Bool = false) throws(StatusError) {
        guard let state = unapplied.quarantinedState(of: path) else { return }
        do throws(StatusError) {
            let isWritten = try fileWriter.restore(path, to: state, logger: logger)
            if !isWritten, keepsEdited { return }
            // The file may be an edit, which is taken before the next commit.
            if !isWritten, let document = state.document { fileWriter.cache.insert(document, identity: .none) }
        } catch {
            var rejection = error
            if error.preventsSingleFileAccess { rejection.code = .failedPrecondition }
            rejection.path = path.string
            throw rejection
        }
        unapplied.remove(path)
    }

    /// Writes the files that keep the texts of edits in the store's form.
    ///
    /// - Returns: `true` if there were any.
    mutating func rewriteKeptTexts() -> Bool {
        defer { fileWriter.endBatch() }
        let keptTexts = unapplied.keptTexts
        for (document, text) in keptTexts { _ = rewrite(document, ifFileIs: text.identity) }
        return !keptTexts.isEmpty
    }

    /// Retries all quarantined documents up to the first that fails; returns its error, or `nil`. Those whose files are edits remain until
    /// these are taken.
    mutating func retryQuarantined() -> StatusError? {
        defer { fileWriter.endBatch() }
        for document in unapplied.quarantined {
            do throws(StatusError) {
                try retryQuarantined(document.path, keepingEdited: fileWriter.takesEdits)
            } catch {
                return error
            }
        }
        return nil
    }
}
