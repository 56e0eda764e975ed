internal import DocumentModel
internal import StrictJSON

/// Reads all documents' files, and compares them with what the journal says last of them.
struct DocumentCheck {
    private let data: DataFolder
    private let files: DocumentFiles
    private let journal: JournalCheck
    /// The last commit's time; nil before the first.
    private let lastTime: Timestamp?
    /// The documents in the journal that were found.
    private var found: Set<DocumentPath> = []

    init(_ data: DataFolder, journal: JournalCheck) {
        self.data = data
        self.journal = journal
        files = DocumentFiles(DocumentFolders(data), cache: DocumentCache(maximumBytes: 0), log: InstallationLog())
        let times = [data.description.commitTime, journal.last?.time]
        lastTime = times.compactMap { $0 }.max()
    }

    /// Reads everything.
    mutating func run(_ log: inout CheckLog) throws(StatusError) {
        guard let top = try files.folders.open([]) else { return }
        try readBelowDocument(top, nil, DataFolder.documentsName, depth: 0, &log)
        for (path, change) in journal.changes where change.updateTime != nil && !found.contains(path) {
            log.add(
                CheckFinding(
                    .outdatedDocument,
                    "There is no file of this document, which was committed at \(change.time). If nobody has removed it on purpose, "
                        + "restore it from a backup.",
                    path: path.string,
                    file: files.place(of: path)
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
        for entry in try entries(of: folder, place) {
            let file = place + "/" + entry.text
            switch try kind(of: entry, in: folder, file) {
            case .folder:
                guard let inner = try open(entry, in: folder, place, depth: depth, &log) else { continue }
                guard let id = try? CollectionID(inner.id.string) else {
                    log.add(.foreignName("No collection can have this name.", file))
                    continue
                }
                try readCollection(inner.folder, CollectionPath(parent: parent, id: id), file, depth: depth + 1, &log)
            case .file where TemporaryName.matches(entry.name):
                log.add(.temporary(file))
            case .file where files.folders.naming.read(file: entry.name) != .foreign:
                log.add(.foreignName("A document's file can't be here: documents are in the folders of collections.", file))
            case .symbolicLink where entry.name.first != UInt8(ascii: "."):
                log.add(.foreignName("It is a symbolic link, and Hearth follows none.", file))
            default:
                break
            }
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
        for entry in try entries(of: folder, place) {
            let file = place + "/" + entry.text
            let stands = files.folders.naming.read(file: entry.name)
            switch try kind(of: entry, in: folder, file) {
            case .folder where stands == .foreign:
                guard let inner = try open(entry, in: folder, place, depth: depth, &log) else { continue }
                guard let id = try? DocumentID(inner.id.string) else {
                    log.add(.foreignName("No document can have this name.", file))
                    continue
                }
                try readBelowDocument(inner.folder, collection.document(id), file, depth: depth + 1, &log)
            case .file where TemporaryName.matches(entry.name):
                log.add(.temporary(file))
            case .file where stands != .foreign || entry.hasDocumentSuffix:
                if read(entry, stands, in: collection, folder, file, &log) { count += 1 }
                log.step()
            case .folder, .symbolicLink, .other:
                guard entry.name.first != UInt8(ascii: ".") else { continue }
                log.add(.foreignName("Expected a document's file or a folder, found something else or a link.", file))
            default:
                break
            }
        }
        if count > 0 { log.report.collections += 1 }
        log.report.documents += count
    }

    /// Reads a document; false when it can't be read.
    private mutating func read(
        _ entry: FolderListing.Entry,
        _ stands: FileNaming.Reading,
        in collection: CollectionPath,
        _ folder: borrowing FileDescriptor,
        _ file: String,
        _ log: inout CheckLog
    ) -> Bool {
        do throws(StatusError) {
            var id: DocumentID?
            switch stands {
            case .foreign:
                log.add(.foreignName("No document's file has this name.", file))
                return false
            case .id(let key):
                id = try DocumentID(key.string)
            case .shortened:
                break
            }
            guard let document = try files.read(entry.text, id: id, in: collection, folder) else { return false }
            guard files.folders.naming.file(of: document.path.id).text.utf8.elementsEqual(entry.name) else {
                log.add(.foreignName("The file of the document \(Excerpt(document.path.string)) has another name.", file))
                return false
            }
            log.report.documentBytes += (try? folder.status(of: entry.text)?.size) ?? 0
            compare(document, file, &log)
            return true
        } catch {
            log.add(CheckFinding(error, file: file))
            if case .id(let key) = stands, let id = try? DocumentID(key.string) { found.insert(collection.document(id)) }
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
    /// Opens a folder; nil when it is not one of ours, which is reported.
    private func open(
        _ entry: FolderListing.Entry,
        in folder: borrowing FileDescriptor,
        _ place: String,
        depth: Int,
        _ log: inout CheckLog
    ) throws(StatusError) -> OpenedFolder? {
        let file = place + "/" + entry.text
        // Other programs keep things in hidden folders; deeper than any path leads there can be no document.
        guard entry.name.first != UInt8(ascii: "."), depth < 2 * DocumentLimits.maximumSubcollectionDepth else { return nil }
        do throws(StatusError) {
            guard let id = try files.folders.id(ofFolder: entry.name, in: folder, place) else {
                log.add(.foreignName("No document's or collection's folder has this name.", file))
                return nil
            }
            let opened = try reporting("open", file) { () throws(SystemError) in try folder.openFolder(entry.text) }
            return OpenedFolder(folder: opened, id: id)
        } catch {
            log.add(CheckFinding(error, file: file))
            return nil
        }
    }

    /// A folder, and the ID that its name stands for.
    private struct OpenedFolder: ~Copyable {
        let folder: FileDescriptor
        let id: UTF8Key
    }

    private func entries(of folder: borrowing FileDescriptor, _ place: String) throws(StatusError) -> [FolderListing.Entry] {
        try reporting("list", place) { () throws(SystemError) in
            var entries: [FolderListing.Entry] = []
            var listing = try folder.openForListing()
            while let entry = try listing.next() { entries.append(entry) }
            return entries
        }
    }

    private func kind(
        of entry: FolderListing.Entry,
        in folder: borrowing FileDescriptor,
        _ file: String
    ) throws(StatusError) -> FileStatus.Kind? {
        try reporting("look at", file) { () throws(SystemError) in try folder.kind(of: entry) }
    }
}

extension FolderListing.Entry {
    fileprivate var hasDocumentSuffix: Bool {
        name.suffix(FileNaming.suffix.utf8.count).elementsEqual(FileNaming.suffix.utf8) && name.first != UInt8(ascii: ".")
    }
}

extension CheckFinding {
    fileprivate static func foreignName(_ fault: String, _ file: String) -> CheckFinding {
        CheckFinding(.foreignName, "\(fault) Rename it, or move it out of the data folder.", file: file)
    }

    fileprivate static func outdated(_ fault: String, _ path: String, _ file: String) -> CheckFinding {
        CheckFinding(
            .outdatedDocument,
            "\(fault). If nobody has put it there on purpose, restore the document from a backup.",
            path: path,
            file: file
        )
    }
}
