internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import QueryEngine
internal import StorageIO

/// Reads documents, listings and versions: current ones from the files, earlier ones with the help of the journal.
final class DocumentReader: Sendable {
    let components: StoreComponents
    /// Runs single-document reads, so that these never wait for long-running work.
    let readQueue: WorkQueue
    /// Runs collection scans, point-in-time reads and journal reads.
    let scanQueue: WorkQueue

    init(_ components: StoreComponents, readQueue: WorkQueue, scanQueue: WorkQueue) {
        self.components = components
        self.readQueue = readQueue
        self.scanQueue = scanQueue
    }

    /// Returns the current document at `path`.
    func currentDocument(at path: DocumentPath) async throws(StatusError) -> EncodedDocument? {
        if let image = components.unapplied.image(of: path) { return image }
        let files = components.files
        if let document = files.cachedDocument(at: path) { return document }
        do throws(StatusError) {
            return try await readQueue.runInline { () throws(StatusError) in try files.document(at: path) }
        } catch {
            if error.affectsSingleFile { components.unreadable.insert(path) }
            throw error
        }
    }

    /// Reads the current document, keeping an error for later: it matters only when the journal does not contain the document.
    func currentDocumentResult(at path: DocumentPath) async -> Result<EncodedDocument?, StatusError> {
        do throws(StatusError) {
            return .success(try await currentDocument(at: path))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the raw contents of a document's file, even if it is damaged, or `nil` if there is none.
    func contents(of path: DocumentPath) async throws(StatusError) -> [UInt8]? {
        let files = components.files
        return try await readQueue.run { () throws(StatusError) in try files.bytes(of: path) }
    }

    /// Returns a page of the current documents of a collection.
    ///
    /// The IDs come from the collection's folder when that is small: files added by hand are listed immediately, and foreign
    /// files are reported. Listing a large folder for each of its pages would take quadratic time, so the IDs of a large
    /// collection come from the index, as of a time after the call. The documents are read from their files in either case.
    func currentDocuments(_ request: DocumentPageRequest) async throws(StatusError) -> DocumentPage {
        let components = components
        let maximumBytes = components.index.isReady ? components.listedFolderBytes : .max
        let page = try await scanQueue.run { () throws(StatusError) in
            try components.files.documents(
                request,
                unapplied: components.unapplied.overlay(of: request.collection),
                inFolderUpTo: maximumBytes
            )
        }
        if let page { return page }
        let known = try await indexedIDs(request)
        return try await scanQueue.run { () throws(StatusError) in
            try components.files.documents(
                request,
                unapplied: components.unapplied.overlay(of: request.collection),
                known: known
            )
        }
    }

    /// Returns the IDs of a page and the next one from the index; `nil` if the index is unavailable.
    private func indexedIDs(_ request: DocumentPageRequest) async throws(StatusError) -> [DocumentPath.ID]? {
        do throws(StatusError) {
            let sequence = try await components.feed.safePosition().lastSequence
            return try await components.index.read(atLeast: sequence) { snapshot throws(StatusError) in
                var reader = IndexedListingReader(
                    of: request.collection,
                    after: request.after,
                    limit: request.limit,
                    includingMissing: request.includingMissing,
                    snapshot
                )
                return try reader.ids()
            }
        } catch {
            guard !Task.isCancelled else { throw error }
            return nil
        }
    }

    /// Returns a page of the current collections directly under a document, or of the root collections.
    func currentCollections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int
    ) async throws(StatusError) -> CollectionPage {
        let components = components
        return try await scanQueue.run { () throws(StatusError) in
            try components.files.collections(
                under: parent,
                after: after,
                limit: limit,
                unapplied: components.unapplied.collections(under: parent),
                deletedFiles: components.unapplied.deletedFiles(below: parent?.segments ?? [], in: components.files)
            )
        }
    }
}
