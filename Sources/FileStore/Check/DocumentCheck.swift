internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import StorageIO
internal import UTF8Text

/// A check of all document files against the journal and the index.
///
/// One thread lists the folders, and those of a ``DocumentCheckPool`` read the files in the order of the listings.
struct DocumentCheck {
    private let data: DataFolder
    private let files: DocumentFiles
    private let journal: JournalCheck
    private let stored: [DocumentPath: QuarantinedDocument]
    private var pool: DocumentCheckPool
    /// The check of the index; `nil` without an index.
    private var index: IndexCheck?
    /// The totals of the index, while they are read; `nil` without an index or if only the documents are compared with it.
    private let totals: IndexTotalsReader?
    /// For each document in the journal, by ``JournalChanges/Change/number``, whether its file was found.
    private var isFound: [Bool]
    /// The collection of the last result that has documents.
    private var lastCollection: CollectionPath?
    /// The unreadable folders, whose documents cannot be checked.
    private var unreadable: [String] = []
    /// The number of documents that recovery brings to their last committed state.
    private var recoverable = 0
    /// The number of documents that are later than the last commit, but not in the future.
    private var late = 0

    /// - Parameters:
    ///   - digest: The rows of the index; `nil` without an index.
    ///   - totals: The totals of the index; `nil` to compare it with the documents only.
    ///   - stored: The documents that are stored outside of their files.
    init(
        _ data: DataFolder,
        journal: JournalCheck,
        index: IndexCheck?,
        digest: IndexDigest?,
        totals: IndexTotalsReader?,
        stored: [DocumentPath: QuarantinedDocument]
    ) throws(StatusError) {
        self.data = data
        self.journal = journal
        self.index = index
        self.totals = totals
        self.stored = stored
        isFound = Array(repeating: false, count: journal.changes.count)
        files = DocumentFiles(DocumentFolders(data), cache: DocumentCache(maximumBytes: 0), log: ApplyLog())
        let context = DocumentComparison.Context(
            files: files,
            journal: journal,
            isClean: data.manifest.isClean,
            lastTime: [data.manifest.commitTime, journal.last?.time].compactMap { $0 }.max(),
            now: .current(),
            stored: stored
        )
        pool = try DocumentCheckPool(context, index, digest)
    }

    /// Checks all files.
    mutating func run(_ reporter: inout CheckReporter) throws(StatusError) {
        reporter.expectedDocuments = index?.documentCount
        if let top = try files.folders.open([]) {
            try readBelowDocument(SharedFileDescriptor(top), nil, DataFolder.documentsName, depth: 0, &reporter)
        }
        while let result = pool.next() { add(result, &reporter) }
        try reportMissing(&reporter)
        reportState(&reporter)
        finishIndex(&reporter)
    }

    /// Adds the result for a batch. Those of a collection follow each other.
    private mutating func add(_ result: DocumentComparison.Result, _ reporter: inout CheckReporter) {
        for finding in result.findings { reporter.add(finding) }
        for number in result.found { isFound[number] = true }
        recoverable += result.recoverable
        late += result.late
        if let latest = result.latestUpdateTime {
            reporter.report.latestUpdateTime = max(reporter.report.latestUpdateTime ?? latest, latest)
        }
        if result.documents > 0, result.collection != lastCollection {
            lastCollection = result.collection
            reporter.report.collections += 1
        }
        reporter.report.documents += result.documents
        reporter.report.documentBytes += result.byteCount
        reporter.reportProgress()
    }

    /// Reports the documents in the journal that have no files, unless recovery restores them.
    private mutating func reportMissing(_ reporter: inout CheckReporter) throws(StatusError) {
        let missing = try journal.changes.filter { $0.updateTime != nil && !isFound[$0.number] }
        for (path, change) in missing.sorted(by: { $0.path < $1.path }) {
            let file = files.filePath(of: path)
            if unreadable.contains(where: { file.utf8.starts(with: $0.utf8) }) { continue }
            let isQuarantined = stored[path]?.keepsText == false
            // A start replays what is stored, too.
            if !isQuarantined, journal.isRecoverable(change) || stored[path] != nil {
                recoverable += 1
                continue
            }
            let fault = "The document was committed at \(change.time), but its file is missing."
            reporter.add(.outdated(fault, path, file, isQuarantined: isQuarantined))
        }
    }

    /// Reports that the database was not closed, and what recovery does.
    private func reportState(_ reporter: inout CheckReporter) {
        let manifest = data.manifest
        guard !manifest.isClean else { return }
        if late > 0, let latest = reporter.report.latestUpdateTime {
            let last = journal.last.map { "commit \($0.sequence) from \($0.time)" } ?? "no commit"
            reporter.add(
                CheckFinding(
                    .damagedJournal,
                    "The journal ends with \(last), but the files of \(late.counted("document")) are from later commits, up to "
                        + "\(latest): its end is damaged or missing. Documents whose later versions were not in "
                        + "their files yet are in an older state. "
                        + "Restore the data folder from a backup, or repair it to continue with the files as they are.",
                    file: journal.tornTail?.path ?? Journal.folderName
                )
            )
        }
        let restored = recoverable == 0 ? "" : " It restores \(recoverable.counted("document")) whose files are not up to date."
        reporter.add(
            CheckFinding(
                .notClosed,
                journal.preventsRecovery
                    ? "The database was not closed, and its journal is damaged, so that it does not open."
                    : "The database was not closed. The next startup, or a repair, recovers it from the journal.\(restored)",
                file: DataFolder.manifestName
            )
        )
    }

    private mutating func finishIndex(_ reporter: inout CheckReporter) {
        guard unreadable.isEmpty, var index else { return }
        pool.merge(into: &index)
        let totals = totals?.wait { reporter.reportProgress() }
        let finding = index.finish(totals)
        self.index = nil
        reporter.report.isIndexIntact = finding == nil
        if let finding { reporter.add(CheckFinding(finding)) }
    }
}

// MARK: - Documents

extension DocumentCheck {
    /// Checks the collections under a document, or the root collections.
    private mutating func readBelowDocument(
        _ folder: SharedFileDescriptor,
        _ parent: DocumentPath?,
        _ filePath: String,
        depth: Int,
        _ reporter: inout CheckReporter
    ) throws(StatusError) {
        for (name, key) in try readEntries(of: folder, filePath, below: nil, depth: depth, &reporter) {
            guard let inner = open(name, key, in: folder.descriptor, filePath, &reporter),
                let id = try? CollectionID(inner.id.string)
            else { continue }
            let collection = CollectionPath(parent: parent, id: id)
            try readCollection(inner.folder, collection, filePath + "/" + name, depth: depth + 1, &reporter)
        }
    }

    /// Checks the documents of a collection, and their subcollections.
    private mutating func readCollection(
        _ folder: SharedFileDescriptor,
        _ collection: CollectionPath,
        _ filePath: String,
        depth: Int,
        _ reporter: inout CheckReporter
    ) throws(StatusError) {
        for (name, key) in try readEntries(of: folder, filePath, below: collection, depth: depth, &reporter) {
            guard let inner = open(name, key, in: folder.descriptor, filePath, &reporter),
                let id = try? DocumentPath.ID(inner.id.string)
            else { continue }
            try readBelowDocument(inner.folder, collection.document(id), filePath + "/" + name, depth: depth + 1, &reporter)
        }
    }

    /// Lists a folder: passes the documents on to the pool, reports other files, and returns the folders.
    ///
    /// - Parameter collection: The collection of the folder; `nil` if it contains collections.
    private mutating func readEntries(
        of folder: SharedFileDescriptor,
        _ filePath: String,
        below collection: CollectionPath?,
        depth: Int,
        _ reporter: inout CheckReporter
    ) throws(StatusError) -> [(name: String, key: UTF8Key?)] {
        // Folders deeper than the longest document path cannot contain documents.
        guard depth <= 2 * DocumentLimits.maximumSubcollectionDepth else { return [] }
        var folders: [(name: String, key: UTF8Key?)] = []
        var batch = collection.map { DocumentComparison.Batch(collection: $0, folder: folder, filePath: filePath) }
        let entries = files.folders
        do throws(StatusError) {
            try entries.forEachEntry(of: folder.descriptor, filePath, at: collection == nil ? .belowDocument : .collection) {
                name,
                entry in
                switch entry {
                case .document(let id):
                    batch?.files.append((name, id))
                    if batch?.files.count == DocumentComparison.Batch.maximumCount, let full = batch {
                        batch?.files = []
                        if let result = pool.add(full) { add(result, &reporter) }
                    }
                case .folder(let key): folders.append((name, key))
                case .foreign(let fault): reporter.add(CheckFinding(.foreignName, fault, file: filePath + "/" + name))
                case .ignored: reportIgnored(name, filePath, &reporter)
                }
                return true
            }
        } catch {
            guard error.affectsSingleFile else { throw error }
            reportUnreadable(filePath, error, &reporter)
        }
        if let batch, !batch.files.isEmpty, let result = pool.add(batch) { add(result, &reporter) }
        return folders
    }

    private func reportIgnored(_ name: String, _ filePath: String, _ reporter: inout CheckReporter) {
        let file = filePath + "/" + name
        if TemporaryName.matches(Array(name.utf8)) {
            reporter.add(.temporary(file))
        } else if !name.utf8.elementsEqual(DocumentFolders.idFileName.utf8) {
            reporter.add(.ignored(file, "It is not a document or a collection."))
        }
    }
}

// MARK: - Folders

extension DocumentCheck {
    /// An open folder, and the ID that its name encodes.
    private struct OpenedFolder {
        let folder: SharedFileDescriptor
        let id: UTF8Key
    }

    private mutating func reportUnreadable(_ filePath: String, _ error: StatusError, _ reporter: inout CheckReporter) {
        reporter.add(CheckFinding(error, file: filePath))
        unreadable.append(filePath + "/")
    }

    /// Opens a folder; reports a failure and returns `nil`.
    private mutating func open(
        _ name: String,
        _ key: UTF8Key?,
        in folder: borrowing FileDescriptor,
        _ filePath: String,
        _ reporter: inout CheckReporter
    ) -> OpenedFolder? {
        let file = filePath + "/" + name
        do throws(StatusError) {
            guard let id = try files.folders.id(ofFolder: name, key, in: folder, filePath) else { return nil }
            let opened = try reporting("open", file) { () throws(FileSystemError) in try folder.openFolder(name) }
            return OpenedFolder(folder: SharedFileDescriptor(opened), id: id)
        } catch {
            if error.code == .dataLoss {
                reporter.add(CheckFinding(.foreignName, error.message, file: file))
            } else {
                reportUnreadable(file, error, &reporter)
            }
            return nil
        }
    }
}
