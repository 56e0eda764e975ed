internal import DocumentModel
internal import StrictJSON

/// Makes one page of a collection's documents from the files in the collection's folder.
struct CollectionListing: ~Copyable {
    private let files: DocumentFiles
    private let listing: DocumentListing
    private let collection: CollectionPath
    private let folder: FileDescriptor
    private let place: String

    /// The listing of an open folder.
    init(_ files: DocumentFiles, _ listing: DocumentListing, in folder: consuming FileDescriptor) {
        self.files = files
        self.listing = listing
        collection = listing.collection
        self.folder = folder
        place = files.folders.place(collection.segments)
    }

    /// What an entry of the folder is to the collection.
    private enum Entry {
        case document(DocumentID)
        case folder(DocumentID)
        case foreign(StatusError)
    }

    /// The page.
    ///
    /// - Parameters:
    ///   - uninstalled: Documents that count in place of their files.
    ///   - known: The IDs that the page can have, in order, and the one behind them; nil to list the folder.
    func page(uninstalled: UninstalledDocuments.Part, known: [DocumentID]? = nil) throws(StatusError) -> DocumentPage {
        let (limit, includingMissing) = (listing.limit, listing.includingMissing)
        var smallest = SmallestIDs(after: listing.after, count: limit + 1)
        for (id, image) in uninstalled.images where image != nil { smallest.insert(id) }
        if includingMissing { for id in uninstalled.parents { smallest.insert(id) } }
        var damaged: [StatusError] = []
        if let known {
            for id in known { smallest.insert(id) }
        } else {
            damaged = try listFolder(into: &smallest, uninstalled)
        }
        let ids = smallest.sorted()
        var documents: [ListedDocument] = []
        for id in ids.prefix(limit) {
            do throws(StatusError) {
                if let document = try document(id, uninstalled) {
                    documents.append(.document(document))
                } else if includingMissing {
                    var hasOthersBelow = uninstalled.parents.contains(id)
                    if !hasOthersBelow { hasOthersBelow = try files.hasDocument(below: collection.segments + [id.key]) }
                    if hasOthersBelow { documents.append(.missing(collection.document(id))) }
                }
            } catch {
                // Anything else would befall the others too.
                guard error.concernsOneFile else { throw error }
                damaged.append(error.concerning(files.folders.place(collection.segments + [id.key]), path: collection.string))
            }
        }
        return DocumentPage(documents: documents, next: ids.count > limit ? ids[limit - 1] : nil, damaged: damaged)
    }

    private func document(_ id: DocumentID, _ uninstalled: UninstalledDocuments.Part) throws(StatusError) -> EncodedDocument? {
        if let image = uninstalled.images[id] { return image }
        return try files.document(at: collection.document(id), in: folder)
    }
}

extension CollectionListing {
    /// Finds the IDs in the folder; gives what is there and is no document of the collection, for the first page.
    private func listFolder(
        into smallest: inout SmallestIDs,
        _ uninstalled: UninstalledDocuments.Part
    ) throws(StatusError) -> [StatusError] {
        var foreign: [StatusError] = []
        let (_, changed) = try files.log.listing { () throws(StatusError) in
            try forEachEntry(withFolders: listing.includingMissing) { entry in
                switch entry {
                case .document(let id): if uninstalled.images[id] == nil { smallest.insert(id) }
                case .folder(let id): smallest.insert(id)
                case .foreign(let error): if listing.after == nil { foreign.append(error) }
                }
            }
        }
        for path in changed where path.collection == collection && uninstalled.images[path.id] == nil { smallest.insert(path.id) }
        foreign.sortByFile()
        return foreign
    }

    private func forEachEntry(withFolders: Bool, _ body: (Entry) -> Void) throws(StatusError) {
        try files.folders.forEachEntry(of: folder, place, at: .collection) { name, found throws(StatusError) in
            do throws(StatusError) {
                switch found {
                case .document(let id): if let id = try documentID(name, id) { body(.document(id)) }
                case .folder(let key): if let id = try folderID(name, key), withFolders { body(.folder(id)) }
                case .foreign(let fault): throw DocumentFiles.damaged(fault, place + "/" + name, path: path(of: name))
                case .ignored: break
                }
            } catch {
                guard error.concernsOneFile else { throw error }
                body(.foreign(error.concerning(place + "/" + name, path: collection.string)))
            }
            return true
        }
    }

    /// The ID of a document's file, asked of the file itself where the name is shortened; nil when it is gone meanwhile.
    private func documentID(_ name: String, _ id: DocumentID?) throws(StatusError) -> DocumentID? {
        if let id { return id }
        guard let id = try files.read(name, id: nil, in: collection, folder)?.path.id else { return nil }
        guard files.folders.naming.file(of: id).text.utf8.elementsEqual(name.utf8) else {
            throw DocumentFiles.damaged(
                "The file of the document \(Excerpt(id.key.string)) has another name. \(FolderEntry.renaming)",
                place + "/" + name
            )
        }
        return id
    }

    private func folderID(_ name: String, _ key: UTF8Key?) throws(StatusError) -> DocumentID? {
        guard let key = try files.folders.id(ofFolder: name, key, in: folder, place) else { return nil }
        return try DocumentID(key.string)
    }

    /// The document in whose place an entry stands, or else the collection.
    private func path(of name: String) -> String {
        guard case .id(let key) = files.folders.naming.read(file: Array(name.utf8)), let id = try? DocumentID(key.string) else {
            return collection.string
        }
        return collection.document(id).string
    }
}

/// Keeps the smallest of the IDs that it is given, each once.
struct SmallestIDs {
    private let after: DocumentID?
    private let count: Int
    private var ids: Set<DocumentID> = []

    init(after: DocumentID?, count: Int) {
        self.after = after
        self.count = count
    }

    mutating func insert(_ id: DocumentID) {
        if let after, id <= after { return }
        ids.insert(id)
        // Cutting only when there are many more than needed keeps the cost of each small.
        if ids.count >= 2 * count + 64 { ids = Set(sorted()) }
    }

    func sorted() -> [DocumentID] {
        Array(ids.sorted().prefix(count))
    }
}
