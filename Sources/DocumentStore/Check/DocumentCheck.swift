internal import DocumentModel
internal import StrictJSON

/// Reads all documents' files, and compares them with what the journal says last of them.
struct DocumentCheck {
    private let data: DataFolder
    let files: DocumentFiles
    private let journal: JournalCheck
    /// The last commit's time; nil before the first.
    private let lastTime: Timestamp?
    /// The index, where there is one to compare.
    private var index: IndexCheck?
    /// The documents in the journal that were found.
    private var found: Set<DocumentPath> = []
    /// The folders that can't be read, so that nothing can be said of what is in them.
    var unreadable: [String] = []

    init(_ data: DataFolder, journal: JournalCheck, index: IndexCheck?) {
        self.data = data
        self.journal = journal
        self.index = index
        files = DocumentFiles(DocumentFolders(data), cache: DocumentCache(maximumBytes: 0), log: InstallationLog())
        let times = [data.description.commitTime, journal.last?.time]
        lastTime = times.compactMap { $0 }.max()
    }

    /// Reads everything.
    mutating func run(_ log: inout CheckLog) throws(StatusError) {
        guard let top = try files.folders.open([]) else { return }
        try readBelowDocument(top, nil, DataFolder.documentsName, depth: 0, &log)
        if unreadable.isEmpty { index?.finish(&log) }
        for (path, change) in journal.changes where change.updateTime != nil && !found.contains(path) {
            let file = files.place(of: path)
            if unreadable.contains(where: { file.utf8.starts(with: $0.utf8) }) { continue }
            log.add(
                CheckFinding(
                    .outdatedDocument,
                    "There is no file of this document, which was committed at \(change.time). If nobody has removed it on purpose, "
                        + "restore it from a backup.",
                    path: path.string,
                    file: file
                )
            )
        }
    }
}

extension DocumentCheck {
    /// Reads the collections below a document, or at the top.
    private mutating func readBelowDocument(
        _ folder: borrowing FileDescriptor,
        _ parent: DocumentPath?,
        _ place: String,
        depth: Int,
        _ log: inout CheckLog
    ) throws(StatusError) {
        for (name, entry) in try entries(of: folder, place, at: .belowDocument, depth: depth, &log) {
            guard case .folder(let key) = entry, let inner = open(name, key, in: folder, place, &log),
                let id = try? CollectionID(inner.id.string)
            else { continue }
            let collection = CollectionPath(parent: parent, id: id)
            try readCollection(inner.folder, collection, place + "/" + name, depth: depth + 1, &log)
        }
    }

    /// Reads the documents of a collection and what is below them.
    private mutating func readCollection(
        _ folder: borrowing FileDescriptor,
        _ collection: CollectionPath,
        _ place: String,
        depth: Int,
        _ log: inout CheckLog
    ) throws(StatusError) {
        var count = 0
        for (name, entry) in try entries(of: folder, place, at: .collection, depth: depth, &log) {
            switch entry {
            case .document(let id):
                if read(name, id, in: collection, folder, place + "/" + name, &log) { count += 1 }
                log.step()
            case .folder(let key):
                guard let inner = open(name, key, in: folder, place, &log), let id = try? DocumentID(inner.id.string) else {
                    continue
                }
                try readBelowDocument(inner.folder, collection.document(id), place + "/" + name, depth: depth + 1, &log)
            case .foreign, .ignored:
                break
            }
        }
        if count > 0 { log.report.collections += 1 }
        log.report.documents += count
    }

    /// Reads a document; false when it can't be read.
    private mutating func read(
        _ name: String,
        _ id: DocumentID?,
        in collection: CollectionPath,
        _ folder: borrowing FileDescriptor,
        _ file: String,
        _ log: inout CheckLog
    ) -> Bool {
        do throws(StatusError) {
            guard let document = try files.read(name, id: id, in: collection, folder) else { return false }
            guard files.folders.naming.file(of: document.path.id).text.utf8.elementsEqual(name.utf8) else {
                let fault = "The file of the document \(Excerpt(document.path.string)) has another name. \(FolderEntry.renaming)"
                log.add(CheckFinding(.foreignName, fault, file: file))
                return false
            }
            log.report.documentBytes += (try? folder.status(of: name)?.size) ?? 0
            compare(document, file, &log)
            try index?.compare(document, file)
            return true
        } catch {
            log.add(CheckFinding(error, file: file))
            if let id {
                found.insert(collection.document(id))
                index?.skip(collection.document(id))
            }
            return false
        }
    }

    /// Compares a document with what the journal says last of it.
    private mutating func compare(_ document: EncodedDocument, _ file: String, _ log: inout CheckLog) {
        let path = document.path.string
        if lastTime.map({ document.updateTime > $0 }) ?? true {
            log.add(
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
            log.add(.outdated("It was deleted by a commit at \(change.time), and its file is there", path, file))
            return
        }
        if document.updateTime != updateTime {
            log.add(.outdated("Its last commit was at \(updateTime), and its file is of \(document.updateTime)", path, file))
        } else if document.fieldsJSON.hashValue != change.fields {
            log.add(CheckFinding(.edited, "The file was edited since the last commit of it.", path: path, file: file))
        }
    }
}

extension CheckFinding {
    fileprivate static func outdated(_ fault: String, _ path: String, _ file: String) -> CheckFinding {
        CheckFinding(
            .outdatedDocument,
            "\(fault). If nobody has put it there on purpose, restore the document from a backup.",
            path: path,
            file: file
        )
    }
}
