internal import DocumentModel
internal import StrictJSON

/// Reads all documents' files, and compares them with what the journal says last of them.
struct DocumentCheck {
    private let data: DataFolder
    private let files: DocumentFiles
    private let journal: JournalCheck
    /// The last commit's time; nil before the first.
    private let lastTime: Timestamp?
    /// The index, where there is one to compare.
    private var index: IndexCheck?
    /// The documents in the journal that were found.
    private var found: Set<DocumentPath> = []
    /// The folders that can't be read, so that nothing can be said of what is in them.
    private var unreadable: [String] = []

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

extension DocumentCheck {
    /// What is in a folder; what can't be there is reported.
    private mutating func entries(
        of folder: borrowing FileDescriptor,
        _ place: String,
        at level: FolderEntry.Level,
        depth: Int,
        _ log: inout CheckLog
    ) throws(StatusError) -> [(name: String, entry: FolderEntry)] {
        // Deeper than any path leads there can be no document.
        guard depth <= 2 * DocumentLimits.maximumSubcollectionDepth else { return [] }
        var entries: [(name: String, entry: FolderEntry)] = []
        do throws(StatusError) {
            try files.folders.forEachEntry(of: folder, place, at: level) { name, entry in
                switch entry {
                case .document, .folder: entries.append((name, entry))
                case .foreign(let fault): log.add(CheckFinding(.foreignName, fault, file: place + "/" + name))
                case .ignored:
                    if TemporaryName.matches(Array(name.utf8)) { log.add(.temporary(place + "/" + name)) }
                }
                return true
            }
        } catch {
            guard error.concernsOneFile else { throw error }
            report(error, ofFolder: place, &log)
        }
        return entries
    }

    private mutating func report(_ error: StatusError, ofFolder place: String, _ log: inout CheckLog) {
        log.add(CheckFinding(error, file: place))
        unreadable.append(place + "/")
    }

    /// Opens a folder; nil when that fails, which is reported.
    private mutating func open(
        _ name: String,
        _ key: UTF8Key?,
        in folder: borrowing FileDescriptor,
        _ place: String,
        _ log: inout CheckLog
    ) -> OpenedFolder? {
        let file = place + "/" + name
        do throws(StatusError) {
            guard let id = try files.folders.id(ofFolder: name, key, in: folder, place) else { return nil }
            let opened = try reporting("open", file) { () throws(SystemError) in try folder.openFolder(name) }
            return OpenedFolder(folder: opened, id: id)
        } catch {
            if error.code == .dataLoss {
                log.add(CheckFinding(.foreignName, error.message, file: file))
            } else {
                report(error, ofFolder: file, &log)
            }
            return nil
        }
    }

    /// A folder, and the ID that its name stands for.
    private struct OpenedFolder: ~Copyable {
        let folder: FileDescriptor
        let id: UTF8Key
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
