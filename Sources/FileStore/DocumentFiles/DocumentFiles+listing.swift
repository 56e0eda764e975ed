internal import DocumentModel
internal import DocumentStore
internal import StorageIO
internal import UTF8Text

extension DocumentFiles {
    /// Returns a page of a collection's documents in ID order by listing its folder, or `nil` if the folder is larger than
    /// `maximumBytes`.
    ///
    /// - Parameter unapplied: Documents that replace their files.
    func documents(
        _ request: DocumentPageRequest,
        unapplied: UnappliedDocuments.CollectionOverlay,
        inFolderUpTo maximumBytes: Int
    ) throws(StatusError) -> DocumentPage? {
        guard let folder = try openFolder(of: request.collection) else {
            return try documents(request, unapplied: unapplied)
        }
        let folderPath = folders.folderPath(request.collection.segments)
        let size = try reporting("get the status of", folderPath) { () throws(FileSystemError) in
            try folder.descriptor.status().size
        }
        guard size <= maximumBytes else { return nil }
        return try CollectionPageReader(self, request, in: folder).page(unapplied: unapplied)
    }

    /// Returns a page of a collection's documents in ID order.
    ///
    /// - Parameters:
    ///   - unapplied: Documents that replace their files.
    ///   - known: The candidate IDs of the page, sorted, and the next one; `nil` to list the folder.
    func documents(
        _ request: DocumentPageRequest,
        unapplied: UnappliedDocuments.CollectionOverlay,
        known: [DocumentPath.ID]? = nil
    ) throws(StatusError) -> DocumentPage {
        guard let folder = try openFolder(of: request.collection) else {
            let documents = unapplied.images.values.compactMap { $0 }.filter { request.isAfterStart($0.path.id) }
            let page = documents.sorted { $0.path.id < $1.path.id }.prefix(request.limit)
            return DocumentPage(
                documents: page.map(ListedDocument.document),
                next: documents.count > page.count ? page.last?.path.id : nil,
                damaged: []
            )
        }
        return try CollectionPageReader(self, request, in: folder).page(unapplied: unapplied, known: known)
    }

    /// Returns a page of the subcollections of a document, or of the root collections, that contain documents or foreign entries at
    /// any depth, in ID order.
    ///
    /// - Parameters:
    ///   - unapplied: Collections with unapplied documents.
    ///   - deletedFiles: The paths of files whose documents are deleted.
    func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        unapplied: Set<CollectionID>,
        deletedFiles: Set<UTF8Key>
    ) throws(StatusError) -> CollectionPage {
        let segments = parent?.segments ?? []
        var found: [CollectionID] = []
        let listed = try folders.collections(under: segments)
        let damaged = after == nil ? listed.damaged : []
        for id in unapplied.union(listed.ids).sorted() {
            if let after, id <= after { continue }
            if !unapplied.contains(id), try !hasDocument(below: segments + [id.key], excluding: deletedFiles) { continue }
            if found.count == limit { return CollectionPage(collections: found, next: found.last, damaged: damaged) }
            found.append(id)
        }
        return CollectionPage(collections: found, next: nil, damaged: damaged)
    }

    /// Returns whether there is a document or a foreign entry below a document, or in or below a collection.
    ///
    /// - Parameter deletedFiles: The paths of files whose documents are deleted.
    func hasDocument(below segments: [UTF8Key], excluding deletedFiles: Set<UTF8Key>) throws(StatusError) -> Bool {
        guard deletedFiles.isEmpty else { return try anyDocument(below: segments, excluding: deletedFiles) != nil }
        if let file = hints.file(in: segments), let folder = try folders.open(segments) {
            let status = try reporting("get the status of", folders.folderPath(segments) + "/" + file) {
                () throws(FileSystemError) in
                try folder.status(of: file)
            }
            if status?.kind == .file { return true }
        }
        let found = try anyDocument(below: segments, excluding: [])
        hints.record(found.flatMap { folders.fileName(of: $0, in: segments) }, in: segments)
        return found != nil
    }

    /// Returns the file path of any document or foreign entry below a document, or in or below a collection, or `nil` if there is
    /// none.
    ///
    /// - Parameter excluded: The paths of files to ignore.
    func anyDocument(below segments: [UTF8Key], excluding excluded: Set<UTF8Key>) throws(StatusError) -> UTF8Key? {
        let (found, changed) = try log.trackingChanges { () throws(StatusError) in
            try folders.anyDocument(below: segments, excluding: excluded)
        }
        if let found { return found }
        for path in changed where path.segments.starts(with: segments) && path.segments.count > segments.count {
            let filePath = UTF8Key(filePath(of: path))
            if excluded.contains(filePath) { continue }
            if try hasFile(path) { return filePath }
        }
        return nil
    }

    private func hasFile(_ path: DocumentPath) throws(StatusError) -> Bool {
        guard let folder = try folders.open(path.collection.segments) else { return false }
        return try reporting("get the status of", filePath(of: path)) { () throws(FileSystemError) in
            try folder.status(of: folders.naming.file(of: path.id).text) != nil
        }
    }
}
