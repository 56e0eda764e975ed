internal import DocumentModel
internal import StrictJSON

extension DocumentFiles {
    /// A page of a collection's documents in ID order, made from its folder; nil when that is larger than `maximumBytes`.
    ///
    /// - Parameter uninstalled: Documents that count in place of their files.
    func documents(
        _ listing: DocumentListing,
        uninstalled: UninstalledDocuments.Part,
        inFolderUpTo maximumBytes: Int
    ) throws(StatusError) -> DocumentPage? {
        guard let folder = try folders.open(listing.collection.segments) else {
            return try documents(listing, uninstalled: uninstalled)
        }
        let place = folders.place(listing.collection.segments)
        let size = try reporting("look at", place) { () throws(SystemError) in try folder.status().size }
        guard size <= maximumBytes else { return nil }
        return try CollectionListing(self, listing, in: folder).page(uninstalled: uninstalled)
    }

    /// A page of a collection's documents in ID order.
    ///
    /// - Parameters:
    ///   - uninstalled: Documents that count in place of their files.
    ///   - known: The IDs that the page can have, in order, and the one behind them; nil to list the folder.
    func documents(
        _ listing: DocumentListing,
        uninstalled: UninstalledDocuments.Part,
        known: [DocumentID]? = nil
    ) throws(StatusError) -> DocumentPage {
        guard let folder = try folders.open(listing.collection.segments) else {
            let documents = uninstalled.images.values.compactMap { $0 }.filter { listing.isBehindStart($0.path.id) }
            let page = documents.sorted { $0.path.id < $1.path.id }.prefix(listing.limit)
            return DocumentPage(
                documents: page.map(ListedDocument.document),
                next: documents.count > page.count ? page.last?.path.id : nil,
                damaged: []
            )
        }
        return try CollectionListing(self, listing, in: folder).page(uninstalled: uninstalled, known: known)
    }

    /// The collections with a document in or below them, or something in the place of one, directly under a document or at the
    /// top, in ID order.
    ///
    /// - Parameter uninstalled: Collections that have a document, whatever the files say.
    func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        uninstalled: Set<CollectionID>
    ) throws(StatusError) -> CollectionPage {
        let segments = parent?.segments ?? []
        var found: [CollectionID] = []
        let listed = try folders.collections(under: segments)
        let damaged = after == nil ? listed.damaged : []
        for id in uninstalled.union(listed.ids).sorted() {
            if let after, id <= after { continue }
            if !uninstalled.contains(id), try !hasDocument(below: segments + [id.key]) { continue }
            if found.count == limit { return CollectionPage(collections: found, next: found.last, damaged: damaged) }
            found.append(id)
        }
        return CollectionPage(collections: found, next: nil, damaged: damaged)
    }

    /// Whether there is a document, or something in the place of one, anywhere below a document or in or below a collection.
    func hasDocument(below segments: [UTF8Key]) throws(StatusError) -> Bool {
        if let file = samples.file(in: segments), let folder = try folders.open(segments) {
            let status = try reporting("look at", folders.place(segments) + "/" + file) { () throws(SystemError) in
                try folder.status(of: file)
            }
            if status?.kind == .file { return true }
        }
        let found = try someDocument(below: segments, otherThan: [])
        samples.note(found.flatMap { folders.fileName(of: $0, in: segments) }, in: segments)
        return found != nil
    }

    /// The place of some document's file below a document or in or below a collection, or of something in the place of one; nil
    /// when there is none.
    ///
    /// - Parameter others: The places of files that don't count.
    func someDocument(below segments: [UTF8Key], otherThan others: Set<UTF8Key>) throws(StatusError) -> UTF8Key? {
        let (found, changed) = try log.listing { () throws(StatusError) in
            try folders.someDocument(below: segments, otherThan: others)
        }
        if let found { return found }
        for path in changed where path.segments.starts(with: segments) && path.segments.count > segments.count {
            let place = UTF8Key(place(of: path))
            if others.contains(place) { continue }
            if try hasFile(path) { return place }
        }
        return nil
    }

    private func hasFile(_ path: DocumentPath) throws(StatusError) -> Bool {
        guard let folder = try folders.open(path.collection.segments) else { return false }
        return try reporting("look at", place(of: path)) { () throws(SystemError) in
            try folder.status(of: folders.naming.file(of: path.id).text) != nil
        }
    }
}
