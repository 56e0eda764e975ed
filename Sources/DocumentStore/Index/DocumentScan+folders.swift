internal import DocumentModel
internal import Logging
internal import StrictJSON

extension DocumentScan {
    /// Reads the collections below a document, or at the top, into batches that are handed over as they become full.
    func readBelowDocument(
        _ folder: borrowing FileDescriptor,
        _ parent: DocumentPath?,
        _ place: String,
        depth: Int,
        _ batch: inout Batch
    ) throws(StatusError) {
        // Deeper than any path leads there can be no document.
        guard depth < DocumentLimits.maximumSubcollectionDepth else { return }
        var folders: [(name: String, key: UTF8Key?)] = []
        try forEachEntry(of: folder, place, at: .belowDocument) { name, entry throws(StatusError) in
            if case .folder(let key) = entry { folders.append((name, key)) }
        }
        for (name, key) in folders {
            guard let inner = try open(name, key, in: folder, place), let id = try? CollectionID(inner.id.string) else {
                continue
            }
            let collection = CollectionPath(parent: parent, id: id)
            try readCollection(inner.folder, collection, inner.place, depth: depth, &batch)
        }
    }

    private func readCollection(
        _ folder: borrowing FileDescriptor,
        _ collection: CollectionPath,
        _ place: String,
        depth: Int,
        _ batch: inout Batch
    ) throws(StatusError) {
        var folders: [(name: String, key: UTF8Key?)] = []
        try forEachEntry(of: folder, place, at: .collection) { name, entry throws(StatusError) in
            switch entry {
            case .document(let id): try read(name, id, in: collection, folder, place, &batch)
            case .folder(let key): folders.append((name, key))
            case .foreign, .ignored: break
            }
            if batch.byteCount >= Self.batchBytes { try hand(over: &batch) }
        }
        for (name, key) in folders {
            guard let inner = try open(name, key, in: folder, place), let id = try? DocumentID(inner.id.string) else { continue }
            try readBelowDocument(inner.folder, collection.document(id), inner.place, depth: depth + 1, &batch)
        }
    }

    /// What is in a folder, as it is listed: there may be very many entries.
    private func forEachEntry(
        of folder: borrowing FileDescriptor,
        _ place: String,
        at level: FolderEntry.Level,
        _ body: (String, FolderEntry) throws(StatusError) -> Void
    ) throws(StatusError) {
        var listing = try reporting("list", place) { () throws(SystemError) in try folder.openForListing() }
        while let entry = try reporting("list", place, { () throws(SystemError) in try listing.next() }) {
            // One that is gone meanwhile has no kind.
            guard let kind = try reporting("list", place, { () throws(SystemError) in try folder.kind(of: entry) }) else {
                continue
            }
            try body(entry.text, FolderEntry(entry.name, kind, at: level, naming: files.folders.naming))
        }
    }

    private func read(
        _ name: String,
        _ id: DocumentID?,
        in collection: CollectionPath,
        _ folder: borrowing FileDescriptor,
        _ place: String,
        _ batch: inout Batch
    ) throws(StatusError) {
        do throws(StatusError) {
            guard let document = try files.readDecoded(name, id: id, in: collection, folder),
                files.folders.naming.file(of: document.path.id).text.utf8.elementsEqual(name.utf8)
            else { return }
            batch.documents.append((document.path, document.fields))
            batch.byteCount += Document.size(of: document.fields, at: document.path) + Self.documentBytes
        } catch {
            try skip(place + "/" + name, error)
            // With nothing to find it by, but its name: so that it is reported where it is come upon.
            if let id { batch.documents.append((collection.document(id), MapValue())) }
        }
    }
}

extension DocumentScan {
    private struct OpenFolder: ~Copyable {
        let folder: FileDescriptor
        let id: UTF8Key
        let place: String
    }

    /// Opens a folder that is a collection's or a document's; nil when it is not, or can't be opened.
    private func open(
        _ name: String,
        _ key: UTF8Key?,
        in folder: borrowing FileDescriptor,
        _ place: String
    ) throws(StatusError) -> OpenFolder? {
        let inner = place + "/" + name
        do throws(StatusError) {
            guard let id = try files.folders.id(ofFolder: name, key, in: folder, place) else { return nil }
            let opened = try reporting("open", inner) { () throws(SystemError) in try folder.openFolderIfPresent(name) }
            guard let opened else { return nil }
            return OpenFolder(folder: opened, id: id, place: inner)
        } catch {
            try skip(inner, error)
            return nil
        }
    }

    /// Passes over one document or folder; what would befall others too ends the scan, since an index without them must not be
    /// taken for complete.
    private func skip(_ place: String, _ error: StatusError) throws(StatusError) {
        guard error.concernsOneFile else { throw error }
        logger.warning(
            "A document or folder can't be read, and the index has nothing of what is in it",
            metadata: ["file.path": "\(place)", "error": "\(error)"]
        )
    }
}
