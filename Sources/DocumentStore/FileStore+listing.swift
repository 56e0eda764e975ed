internal import DocumentModel

extension FileStore {
    /// A page of a collection's documents as they are now.
    ///
    /// The IDs come from the collection's folder where that is small: what people put there shows at once, and what does not
    /// belong there is reported. Listing a large folder for each of its pages would take a time that grows with the square of its
    /// size, so that of a large one they come from the index, as of one moment after this call began. The documents are read
    /// from their files in either case.
    func currentDocuments(_ listing: DocumentListing) async throws(StatusError) -> DocumentPage {
        let parts = parts
        let maximumBytes = parts.index.isReady ? parts.listedFolderBytes : .max
        let page = try await listers.run { () throws(StatusError) in
            try parts.files.documents(
                listing,
                uninstalled: parts.uninstalled.part(of: listing.collection),
                inFolderUpTo: maximumBytes
            )
        }
        if let page { return page }
        let known = try await indexedIDs(listing)
        return try await listers.run { () throws(StatusError) in
            try parts.files.documents(listing, uninstalled: parts.uninstalled.part(of: listing.collection), known: known)
        }
    }

    /// The IDs of a page and the one behind it; nil when the index can't tell now.
    private func indexedIDs(_ listing: DocumentListing) async throws(StatusError) -> [DocumentID]? {
        do throws(StatusError) {
            let sequence = try await settledPosition().lastSequence
            return try await parts.index.read(atLeast: sequence) { snapshot throws(StatusError) in
                var indexed = IndexedListing(listing, snapshot)
                return try indexed.ids()
            }
        } catch {
            guard !Task.isCancelled else { throw error }
            return nil
        }
    }
}
