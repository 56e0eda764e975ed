internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import StorageIO
internal import UTF8Text

/// A comparison of document files with the journal and the index, by one thread of a ``DocumentCheckPool``.
struct DocumentComparison {
    /// The state that all threads compare the files with.
    struct Context: Sendable {
        let files: DocumentFiles
        let journal: JournalCheck
        let isClean: Bool
        /// The last commit's time; `nil` before the first commit.
        let lastTime: Timestamp?
        /// The current time.
        let now: Timestamp
        /// The documents that are stored outside of their files.
        let stored: [DocumentPath: QuarantinedDocument]
    }

    /// Files in the folder of a collection.
    struct Batch: Sendable {
        let collection: CollectionPath
        let folder: SharedFileDescriptor
        let filePath: String
        var files: [(name: String, id: DocumentPath.ID?)] = []

        /// The maximum number of files: few enough that all threads have work, and many enough that passing them on is cheap.
        static let maximumCount = 64
    }

    /// The result for a batch.
    struct Result: Sendable {
        let collection: CollectionPath
        /// The number of readable documents.
        var documents = 0
        /// The total size of their files.
        var byteCount = 0
        var findings: [CheckFinding] = []
        /// The documents in the journal whose files were found, by ``JournalChanges/Change/number``.
        var found: [Int] = []
        /// The number of documents that recovery brings to their last committed state.
        var recoverable = 0
        /// The number of documents that are later than the last commit, but not in the future.
        var late = 0
        /// The latest update time of all documents, unless it is in the future.
        var latestUpdateTime: Timestamp?
    }

    private let context: Context
    /// This thread's part of the check of the index; `nil` without an index.
    private(set) var index: IndexCheck?

    init(_ context: Context, _ index: IndexCheck?) {
        self.context = context
        self.index = index
    }

    /// Reads and compares the files of a batch.
    mutating func run(_ batch: Batch) -> Result {
        var result = Result(collection: batch.collection)
        var documents: [(document: Document, name: String)] = []
        documents.reserveCapacity(batch.files.count)
        for (name, id) in batch.files {
            // Computed only for findings.
            var file: String { batch.filePath + "/" + name }
            if let id, let stored = context.stored[batch.collection.document(id)],
                addKeptText(of: stored, name, in: batch, file, &result)
            {
                continue
            }
            do throws(StatusError) {
                let decoded = try context.files.decode(name, id: id, in: batch.collection, batch.folder.descriptor)
                guard let (document, byteCount) = decoded,
                    id != nil || hasName(name, document.path, file, &result)
                else { continue }
                result.documents += 1
                result.byteCount += byteCount
                compare(document, file: file, &result)
                documents.append((document, name))
            } catch {
                addFailure(error, at: id.map { batch.collection.document($0) }, file, &result)
            }
        }
        index?.compare(documents, in: batch.filePath)
        return result
    }

    /// Returns whether a file has the shortened name of its document, and otherwise adds a finding.
    private func hasName(_ name: String, _ path: DocumentPath, _ file: String, _ result: inout Result) -> Bool {
        if context.files.folders.naming.file(of: path.id).text.utf8.elementsEqual(name.utf8) { return true }
        let fault = "The file of the document \(Excerpt(path.string)) has a different name. \(FolderEntry.renameHint)"
        result.findings.append(CheckFinding(.foreignName, fault, file: file))
        return false
    }

    /// Adds a document that is not readable.
    private mutating func addFailure(_ error: StatusError, at path: DocumentPath?, _ file: String, _ result: inout Result) {
        if let path {
            index?.skip(path)
            if let change = context.journal.changes[path] {
                result.found.append(change.number)
                if error.code == .dataLoss, isRecoverable(path, change) {
                    result.recoverable += 1
                    return
                }
            }
        }
        result.findings.append(CheckFinding(error, file: file))
    }

    /// Adds a document whose file keeps the text of an edit, or has a later one.
    ///
    /// - Returns: `false` if the file is to be in the store's form, or is none of a document.
    private func addKeptText(
        of stored: QuarantinedDocument,
        _ name: String,
        in batch: Batch,
        _ file: String,
        _ result: inout Result
    ) -> Bool {
        guard stored.keepsText,
            let edited = try? context.files.edited(name, id: stored.path.id, in: batch.collection, batch.folder.descriptor)
        else { return false }
        if let change = context.journal.changes[stored.path] { result.found.append(change.number) }
        result.documents += 1
        result.byteCount += Int(edited.identity.size)
        if let fields = try? stored.image?.decoded().fields, fields == edited.contents.fields {
            let notice =
                "The file keeps the text of an edit until the next commit of the document, which \(DataFolder.quarantineName) contains as "
                + "committed. The next startup, or a repair, writes the file."
            result.findings.append(CheckFinding(.keptText, notice, path: stored.path.string, file: file))
        } else {
            let notice = "The file has been edited since its last commit."
            result.findings.append(CheckFinding(.edited, notice, path: stored.path.string, file: file))
        }
        return true
    }

    private func isRecoverable(_ path: DocumentPath, _ change: JournalChanges.Change) -> Bool {
        context.stored[path] == nil && context.journal.isRecoverable(change)
    }

    /// Compares a document with its last change in the journal.
    private func compare(_ document: Document, file: @autoclosure () -> String, _ result: inout Result) {
        let path = document.path
        let isLate = isLate(path, document.updateTime, file: file(), &result)
        guard let change = context.journal.changes[path] else { return }
        result.found.append(change.number)
        let fault: String
        if let updateTime = change.updateTime {
            guard document.updateTime != updateTime else {
                let hash = EncodedDocument(document).fieldsJSON.withUnsafeBytes { SeededHash.hash($0) }
                guard hash != change.fieldsHash else { return }
                let notice = "The file has been edited since its last commit."
                result.findings.append(CheckFinding(.edited, notice, path: path.string, file: file()))
                return
            }
            fault = "The document was last committed at \(updateTime), but the file's update time is \(document.updateTime)."
        } else {
            fault = "The document was deleted by the commit at \(change.time), but has a file."
        }
        // Late documents of a database that was not closed are reported together.
        if isLate, !context.isClean { return }
        // Recovery keeps a file that is newer than the last commit of the document.
        if document.updateTime <= change.time, isRecoverable(path, change) {
            result.recoverable += 1
        } else {
            result.findings.append(.outdated(fault, path, file(), isQuarantined: context.stored[path] != nil))
        }
    }

    /// Returns whether an update time is later than the last commit, and if so adds the document.
    private func isLate(
        _ path: DocumentPath,
        _ updateTime: Timestamp,
        file: @autoclosure () -> String,
        _ result: inout Result
    ) -> Bool {
        let isInFuture = updateTime > context.now
        if !isInFuture { result.latestUpdateTime = max(result.latestUpdateTime ?? updateTime, updateTime) }
        if let lastTime = context.lastTime, updateTime <= lastTime { return false }
        if !isInFuture {
            result.late += 1
            // They are reported together: the journal lost its end.
            if !context.isClean { return true }
        }
        result.findings.append(
            CheckFinding(
                .futureUpdateTime,
                "The update time \(updateTime) is later than the last commit. "
                    + (isInFuture ? "Correct it in the file." : "A repair accepts it."),
                path: path.string,
                file: file()
            )
        )
        return true
    }
}

extension CheckFinding {
    /// The finding for a document that is not in its last committed state.
    static func outdated(_ fault: String, _ path: DocumentPath, _ file: String, isQuarantined: Bool) -> CheckFinding {
        let advice =
            isQuarantined
            ? "It is quarantined: its file could not be written, and \(DataFolder.quarantineName) contains the document. Remove "
                + "the cause, and start the server."
            : "If that was intended, a repair accepts it. Otherwise restore the document from a backup or from its history."
        return CheckFinding(.outdatedDocument, fault, advice: advice, path: path.string, file: file)
    }
}
