internal import DocumentModel
internal import DocumentStore
internal import StorageIO
internal import UTF8Text

/// A reader of one page of a collection's documents from the collection's folder.
struct CollectionPageReader: ~Copyable {
    private let files: DocumentFiles
    private let request: DocumentPageRequest
    private let collection: CollectionPath
    private let folder: CollectionFolder
    private let folderPath: String

    /// Creates a reader of an open folder.
    init(_ files: DocumentFiles, _ request: DocumentPageRequest, in folder: CollectionFolder) {
        self.files = files
        self.request = request
        collection = request.collection
        self.folder = folder
        folderPath = files.folders.folderPath(collection.segments)
    }

    /// A folder entry, resolved in the collection.
    private enum Entry {
        case document(DocumentPath.ID)
        case folder(DocumentPath.ID)
        case foreign(StatusError)
    }

    /// Reads the page.
    ///
    /// - Parameters:
    ///   - unapplied: Documents that replace their files.
    ///   - known: The candidate IDs of the page, sorted, and the next one; `nil` to list the folder.
    func page(
        unapplied: UnappliedDocuments.CollectionOverlay,
        known: [DocumentPath.ID]? = nil
    ) throws(StatusError) -> DocumentPage {
        let (limit, includingMissing) = (request.limit, request.includingMissing)
        var smallest = SmallestIDs(after: request.after, count: limit + 1)
        for (id, image) in unapplied.images where image != nil { smallest.insert(id) }
        if includingMissing { for id in unapplied.parents { smallest.insert(id) } }
        var damaged: [StatusError] = []
        if let known {
            for id in known { smallest.insert(id) }
        } else {
            damaged = try listFolder(into: &smallest, unapplied)
        }
        let ids = smallest.sorted()
        let deletedFiles =
            includingMissing ? Set(unapplied.deletedDescendants.map { UTF8Key(files.filePath(of: $0)) }) : []
        var documents: [ListedDocument] = []
        for id in ids.prefix(limit) {
            do throws(StatusError) {
                if let document = try document(id, unapplied) {
                    documents.append(.document(document))
                } else if includingMissing {
                    var hasDescendants = unapplied.parents.contains(id)
                    if !hasDescendants {
                        hasDescendants = try files.hasDocument(below: collection.segments + [id.key], excluding: deletedFiles)
                    }
                    if hasDescendants { documents.append(.missing(collection.document(id))) }
                }
            } catch {
                // Other errors would affect all documents.
                guard error.affectsSingleFile else { throw error }
                damaged.append(
                    error.withLocation(
                        filePath: files.folders.folderPath(collection.segments + [id.key]),
                        path: collection.string
                    )
                )
            }
        }
        return DocumentPage(documents: documents, next: ids.count > limit ? ids[limit - 1] : nil, damaged: damaged)
    }

    private func document(
        _ id: DocumentPath.ID,
        _ unapplied: UnappliedDocuments.CollectionOverlay
    ) throws(StatusError) -> EncodedDocument? {
        if let image = unapplied.images[id] { return image }
        return try files.document(at: collection.document(id), in: folder)
    }
}

extension CollectionPageReader {
    /// Collects the IDs in the folder, and returns errors for its foreign entries, for the first page.
    private func listFolder(
        into smallest: inout SmallestIDs,
        _ unapplied: UnappliedDocuments.CollectionOverlay
    ) throws(StatusError) -> [StatusError] {
        var foreign: [StatusError] = []
        let (_, changed) = try files.log.trackingChanges { () throws(StatusError) in
            try files.folders.forEachEntry(
                of: folder.descriptor,
                folderPath,
                at: .collection,
                skipping: { !smallest.mayInclude(plain: $0) }
            ) { name, found throws(StatusError) in
                switch try entry(name, found) {
                case .document(let id)?: if unapplied.images[id] == nil { smallest.insert(id) }
                case .folder(let id)?: if request.includingMissing { smallest.insert(id) }
                case .foreign(let error)?: if request.after == nil { foreign.append(error) }
                case nil: break
                }
                return true
            }
        }
        for path in changed where path.collection == collection && unapplied.images[path.id] == nil { smallest.insert(path.id) }
        foreign.sortByFilePath()
        return foreign
    }

    /// Resolves an entry; `nil` if it is ignored, or was removed in the meantime.
    private func entry(_ name: String, _ found: FolderEntry) throws(StatusError) -> Entry? {
        do throws(StatusError) {
            switch found {
            case .document(let id): return try documentID(name, id).map(Entry.document)
            case .folder(let key): return try folderID(name, key).map(Entry.folder)
            case .foreign(let message): throw DocumentFiles.damaged(message, folderPath + "/" + name, path: path(of: name))
            case .ignored: return nil
            }
        } catch {
            guard error.affectsSingleFile else { throw error }
            return .foreign(error.withLocation(filePath: folderPath + "/" + name, path: collection.string))
        }
    }

    /// Returns the ID of a document file, which is read from the file if the name is shortened, or `nil` if the file was removed
    /// in the meantime.
    private func documentID(_ name: String, _ id: DocumentPath.ID?) throws(StatusError) -> DocumentPath.ID? {
        if let id { return id }
        guard let id = try files.read(name, id: nil, in: collection, folder.descriptor)?.path.id else { return nil }
        guard files.folders.naming.file(of: id).text.utf8.elementsEqual(name.utf8) else {
            throw DocumentFiles.damaged(
                "The file of the document \(Excerpt(id.key.string)) has a different name. \(FolderEntry.renameHint)",
                folderPath + "/" + name
            )
        }
        return id
    }

    private func folderID(_ name: String, _ key: UTF8Key?) throws(StatusError) -> DocumentPath.ID? {
        guard let key = try files.folders.id(ofFolder: name, key, in: folder.descriptor, folderPath) else { return nil }
        return try DocumentPath.ID(key.string)
    }

    /// Returns the path of the document with an entry's name, or of the collection.
    private func path(of name: String) -> String {
        guard case .id(let key) = files.folders.naming.parse(file: Array(name.utf8)), let id = try? DocumentPath.ID(key.string)
        else {
            return collection.string
        }
        return collection.document(id).string
    }
}

/// A collector of the smallest distinct IDs (top-k).
struct SmallestIDs {
    private let after: DocumentPath.ID?
    private let count: Int
    /// The IDs that may be among the smallest.
    private(set) var candidates: Set<DocumentPath.ID> = []
    /// The ID that is the last of the smallest if no smaller ones follow; `nil` before the first pruning.
    private var largest: DocumentPath.ID?

    init(after: DocumentPath.ID?, count: Int) {
        self.after = after
        self.count = count
    }

    /// Returns whether an ID that ``DocumentPath/ID/init(plain:)`` accepts may be among the smallest.
    ///
    /// Nearly all IDs of a large collection are not, so that they are neither allocated nor cause pruning.
    func mayInclude(plain id: UnsafeBufferPointer<UInt8>) -> Bool {
        if let after, !after.precedes(plain: id) { return false }
        if let largest, largest.precedes(plain: id) { return false }
        return true
    }

    mutating func insert(_ id: DocumentPath.ID) {
        if let after, id <= after { return }
        if let largest, id > largest { return }
        candidates.insert(id)
        // Pruning only at twice the size keeps the amortized cost low.
        guard candidates.count >= 2 * count + 64 else { return }
        let smallest = sorted()
        largest = smallest.last
        candidates = Set(smallest)
    }

    func sorted() -> [DocumentPath.ID] {
        Array(candidates.sorted().prefix(count))
    }
}

/// A request for a page of a collection's documents.
struct DocumentPageRequest: Sendable {
    /// The collection.
    let collection: CollectionPath
    /// The ID after which the page starts; `nil` for the first page.
    var after: DocumentPath.ID?
    /// The maximum number of entries.
    let limit: Int
    /// True to include missing documents that have descendants.
    let includingMissing: Bool

    /// Returns whether an ID is after the start of the page.
    func isAfterStart(_ id: DocumentPath.ID) -> Bool {
        after.map { $0 < id } ?? true
    }
}
