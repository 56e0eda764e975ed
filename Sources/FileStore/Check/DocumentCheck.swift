internal import DocumentIndex
internal import DocumentModel
internal import StorageIO
internal import UTF8Text

/// A check of all document files against the journal and the index.
struct DocumentCheck {
    private let data: DataFolder
    private let files: DocumentFiles
    private let journal: JournalCheck
    /// The last commit's time; nil before the first commit.
    private let lastTime: Timestamp?
    /// The check of the index; nil without an index.
    private var index: IndexCheck?
    /// The documents in the journal whose files were found.
    private var found: Set<DocumentPath> = []
    /// The unreadable folders, whose documents can't be checked.
    private var unreadable: [String] = []

    init(_ data: DataFolder, journal: JournalCheck, index: IndexCheck?) {
        self.data = data
        self.journal = journal
        self.index = index
        files = DocumentFiles(DocumentFolders(data), cache: DocumentCache(maximumBytes: 0), log: ApplyLog())
        let times = [data.manifest.commitTime, journal.last?.time]
        lastTime = times.compactMap { $0 }.max()
    }

    /// Checks all files.
    mutating func run(_ reporter: inout CheckReporter) throws(StatusError) {
        guard let top = try files.folders.open([]) else { return }
        try readBelowDocument(top, nil, DataFolder.documentsName, depth: 0, &reporter)
        if unreadable.isEmpty, let finding = index?.finish() { reporter.add(CheckFinding(finding)) }
        for (path, change) in journal.changes where change.updateTime != nil && !found.contains(path) {
            let file = files.filePath(of: path)
            if unreadable.contains(where: { file.utf8.starts(with: $0.utf8) }) { continue }
            reporter.add(
                CheckFinding(
                    .outdatedDocument,
                    "The document was committed at \(change.time), but its file is missing. Unless it was removed intentionally, "
                        + "restore it from a backup.",
                    path: path.string,
                    file: file
                )
            )
        }
    }
}

// MARK: - Documents

extension DocumentCheck {
    /// Checks the collections under a document, or the root collections.
    private mutating func readBelowDocument(
        _ folder: borrowing FileDescriptor,
        _ parent: DocumentPath?,
        _ filePath: String,
        depth: Int,
        _ reporter: inout CheckReporter
    ) throws(StatusError) {
        for (name, entry) in try entries(of: folder, filePath, at: .belowDocument, depth: depth, &reporter) {
            guard case .folder(let key) = entry, let inner = open(name, key, in: folder, filePath, &reporter),
                let id = try? CollectionID(inner.id.string)
            else { continue }
            let collection = CollectionPath(parent: parent, id: id)
            try readCollection(inner.folder, collection, filePath + "/" + name, depth: depth + 1, &reporter)
        }
    }

    /// Checks the documents of a collection, and their subcollections.
    private mutating func readCollection(
        _ folder: borrowing FileDescriptor,
        _ collection: CollectionPath,
        _ filePath: String,
        depth: Int,
        _ reporter: inout CheckReporter
    ) throws(StatusError) {
        var count = 0
        for (name, entry) in try entries(of: folder, filePath, at: .collection, depth: depth, &reporter) {
            switch entry {
            case .document(let id):
                if read(name, id, in: collection, folder, filePath + "/" + name, &reporter) { count += 1 }
                reporter.advance()
            case .folder(let key):
                guard let inner = open(name, key, in: folder, filePath, &reporter),
                    let id = try? DocumentPath.ID(inner.id.string)
                else { continue }
                try readBelowDocument(inner.folder, collection.document(id), filePath + "/" + name, depth: depth + 1, &reporter)
            case .foreign, .ignored:
                break
            }
        }
        if count > 0 { reporter.report.collections += 1 }
        reporter.report.documents += count
    }

    /// Checks a document; returns false if it is not readable.
    private mutating func read(
        _ name: String,
        _ id: DocumentPath.ID?,
        in collection: CollectionPath,
        _ folder: borrowing FileDescriptor,
        _ file: String,
        _ reporter: inout CheckReporter
    ) -> Bool {
        do throws(StatusError) {
            guard let document = try files.read(name, id: id, in: collection, folder) else { return false }
            guard files.folders.naming.file(of: document.path.id).text.utf8.elementsEqual(name.utf8) else {
                let fault =
                    "The file of the document \(Excerpt(document.path.string)) has a different name. \(FolderEntry.renameHint)"
                reporter.add(CheckFinding(.foreignName, fault, file: file))
                return false
            }
            reporter.report.documentBytes += (try? folder.status(of: name)?.size) ?? 0
            compare(document, file, &reporter)
            try index?.compare(document, file)
            return true
        } catch {
            reporter.add(CheckFinding(error, file: file))
            if let id {
                found.insert(collection.document(id))
                index?.skip(collection.document(id))
            }
            return false
        }
    }

    /// Compares a document with its last change in the journal.
    private mutating func compare(_ document: EncodedDocument, _ file: String, _ reporter: inout CheckReporter) {
        let path = document.path.string
        if lastTime.map({ document.updateTime > $0 }) ?? true {
            reporter.add(
                CheckFinding(
                    .futureUpdateTime,
                    "The update time \(document.updateTime) is later than the last commit. Correct it in the file.",
                    path: path,
                    file: file
                )
            )
        }
        guard let change = journal.changes[document.path] else { return }
        found.insert(document.path)
        guard let updateTime = change.updateTime else {
            reporter.add(.outdated("The document was deleted by the commit at \(change.time), but has a file", path, file))
            return
        }
        if document.updateTime != updateTime {
            reporter.add(
                .outdated(
                    "The document was last committed at \(updateTime), but the file's update time is \(document.updateTime)",
                    path,
                    file
                )
            )
        } else if document.fieldsJSON.hashValue != change.fieldsHash {
            reporter.add(CheckFinding(.edited, "The file has been edited since its last commit.", path: path, file: file))
        }
    }
}

// MARK: - Folders

extension DocumentCheck {
    /// An open folder, and the ID that its name encodes.
    private struct OpenedFolder: ~Copyable {
        let folder: FileDescriptor
        let id: UTF8Key
    }

    /// Lists a folder, and reports foreign and temporary files.
    private mutating func entries(
        of folder: borrowing FileDescriptor,
        _ filePath: String,
        at level: FolderEntry.Level,
        depth: Int,
        _ reporter: inout CheckReporter
    ) throws(StatusError) -> [(name: String, entry: FolderEntry)] {
        // Folders deeper than the longest document path can't contain documents.
        guard depth <= 2 * DocumentLimits.maximumSubcollectionDepth else { return [] }
        var entries: [(name: String, entry: FolderEntry)] = []
        do throws(StatusError) {
            try files.folders.forEachEntry(of: folder, filePath, at: level) { name, entry in
                switch entry {
                case .document, .folder: entries.append((name, entry))
                case .foreign(let fault): reporter.add(CheckFinding(.foreignName, fault, file: filePath + "/" + name))
                case .ignored:
                    if TemporaryName.matches(Array(name.utf8)) { reporter.add(.temporary(filePath + "/" + name)) }
                }
                return true
            }
        } catch {
            guard error.affectsSingleFile else { throw error }
            reportUnreadable(filePath, error, &reporter)
        }
        return entries
    }

    private mutating func reportUnreadable(_ filePath: String, _ error: StatusError, _ reporter: inout CheckReporter) {
        reporter.add(CheckFinding(error, file: filePath))
        unreadable.append(filePath + "/")
    }

    /// Opens a folder; reports a failure and returns nil.
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
            return OpenedFolder(folder: opened, id: id)
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

extension CheckFinding {
    fileprivate static func outdated(_ fault: String, _ path: String, _ file: String) -> CheckFinding {
        CheckFinding(
            .outdatedDocument,
            "\(fault). Unless the file was placed there intentionally, restore the document from a backup.",
            path: path,
            file: file
        )
    }
}
