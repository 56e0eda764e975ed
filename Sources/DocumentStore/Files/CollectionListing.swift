internal import DocumentModel
internal import StrictJSON

/// Makes one page of a collection's documents from the collection's folder.
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
    /// - Parameter uninstalled: Documents that count in place of their files.
    func page(uninstalled: [DocumentID: EncodedDocument?]) throws(StatusError) -> DocumentPage {
        let (limit, includingMissing) = (listing.limit, listing.includingMissing)
        var smallest = SmallestIDs(after: listing.after, count: limit + 1)
        var foreign: [StatusError] = []
        for (id, image) in uninstalled where image != nil { smallest.insert(id) }
        let (_, changed) = try files.log.listing { () throws(StatusError) in
            try forEachEntry(withFolders: includingMissing) { entry in
                switch entry {
                case .document(let id): if uninstalled[id] == nil { smallest.insert(id) }
                case .folder(let id): smallest.insert(id)
                case .foreign(let error): if listing.after == nil { foreign.append(error) }
                }
            }
        }
        for path in changed where path.collection == collection && uninstalled[path.id] == nil { smallest.insert(path.id) }
        let ids = smallest.sorted()
        var documents: [ListedDocument] = []
        var damaged = foreign
        for id in ids.prefix(limit) {
            do throws(StatusError) {
                if let document = try document(id, uninstalled) {
                    documents.append(.document(document))
                } else if includingMissing, try files.hasDocument(below: collection.segments + [id.key]) {
                    documents.append(.missing(collection.document(id)))
                }
            } catch {
                // Anything else would befall the others too.
                guard error.concernsOneFile else { throw error }
                damaged.append(error)
            }
        }
        return DocumentPage(documents: documents, next: ids.count > limit ? ids[limit - 1] : nil, damaged: damaged)
    }

    private func document(_ id: DocumentID, _ uninstalled: [DocumentID: EncodedDocument?]) throws(StatusError) -> EncodedDocument?
    {
        if let image = uninstalled[id] { return image }
        return try files.document(at: collection.document(id), in: folder)
    }
}

extension CollectionListing {
    private func forEachEntry(withFolders: Bool, _ body: (Entry) -> Void) throws(StatusError) {
        var failure: StatusError?
        do throws(SystemError) {
            var listing = try folder.openForListing()
            while let found = try listing.next() {
                do throws(StatusError) {
                    if let entry = try entry(found, withFolders: withFolders) { body(entry) }
                } catch {
                    guard error.concernsOneFile else {
                        failure = error
                        break
                    }
                    body(.foreign(error))
                }
            }
        } catch {
            throw error.status("list", place)
        }
        if let failure { throw failure }
    }

    /// What an entry is; nil when it is nothing of ours and doesn't look so.
    private func entry(_ found: FolderListing.Entry, withFolders: Bool) throws(StatusError) -> Entry? {
        guard found.name.first != UInt8(ascii: ".") else { return nil }
        let standsForDocument = files.folders.naming.read(file: found.name) != .foreign
        switch try kind(of: found) {
        case .folder where !standsForDocument:
            return withFolders ? try folderID(found).map { .folder($0) } : nil
        case .file:
            return try documentID(found).map { .document($0) }
        case .folder, .symbolicLink, .other:
            guard standsForDocument else { return nil }
            return .foreign(foreign("Expected a file, found a folder, link or device. Put the file itself there.", found))
        case nil:
            return nil
        }
    }

    private func kind(of found: FolderListing.Entry) throws(StatusError) -> FileStatus.Kind? {
        try reporting("look at", place + "/" + found.text) { () throws(SystemError) in try folder.kind(of: found) }
    }

    private func documentID(_ found: FolderListing.Entry) throws(StatusError) -> DocumentID? {
        switch files.folders.naming.read(file: found.name) {
        case .id(let key):
            do throws(StatusError) {
                return try DocumentID(key.string)
            } catch {
                throw foreign("No document can have the name of this file: \(error.message)", found)
            }
        case .shortened:
            // Its bytes were those of an ID, so they are UTF-8.
            let document = try files.read(String(decoding: found.name, as: UTF8.self), id: nil, in: collection, folder)
            guard let id = document?.path.id else { return nil }
            guard files.folders.naming.file(of: id).text.utf8.elementsEqual(found.name) else {
                throw foreign("The file of the document \(Excerpt(id.key.string)) has another name. Rename it.", found)
            }
            return id
        case .foreign:
            guard found.name.suffix(FileNaming.suffix.utf8.count).elementsEqual(FileNaming.suffix.utf8) else { return nil }
            throw foreign("No document's file has this name. Rename it, or move it out of the data folder.", found)
        }
    }

    private func folderID(_ found: FolderListing.Entry) throws(StatusError) -> DocumentID? {
        guard let key = try files.folders.id(ofFolder: found.name, in: folder, place) else { return nil }
        return try? DocumentID(key.string)
    }

    private func foreign(_ message: String, _ found: FolderListing.Entry) -> StatusError {
        var path = collection.string
        if case .id(let key) = files.folders.naming.read(file: found.name), let id = try? DocumentID(key.string) {
            path = collection.document(id).string
        }
        return DocumentFiles.damaged(message, place + "/" + found.text, path: path)
    }
}

extension StatusError {
    /// Whether it is the fault of one file, so that the others may be readable.
    fileprivate var concernsOneFile: Bool {
        code == .dataLoss || (cause as? SystemError)?.concernsOneFile == true
    }
}

/// Keeps the smallest of the IDs that it is given, each once.
private struct SmallestIDs {
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
