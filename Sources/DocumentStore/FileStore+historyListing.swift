internal import DocumentModel
internal import StrictJSON

extension FileStore {
    /// A page of a collection's documents as they were at a time: the page as it is now, and what was changed since.
    func documents(_ listing: DocumentListing, asOf time: Timestamp) async throws(StatusError) -> DocumentPage {
        try await settle(at: time)
        var listing = listing
        while true {
            let page = try await page(listing, asOf: time)
            // All that is there now may have been created since: then the page is further on.
            guard page.documents.isEmpty, page.damaged.isEmpty, let next = page.next else { return page }
            listing.after = next
        }
    }

    private func page(_ listing: DocumentListing, asOf time: Timestamp) async throws(StatusError) -> DocumentPage {
        let now = try await currentDocuments(listing)
        let view = try await parts.history.view(after: time)
        var entries = Dictionary(uniqueKeysWithValues: now.documents.map { ($0.path.id, $0) })
        let (collection, ids, through) = (listing.collection, Set(entries.keys), now.next)
        let images = try await listers.run { () throws(StatusError) in
            try view.images(in: collection, page: ids, bounds: (listing.after, through), limit: listing.limit + 1)
        }
        for (id, image) in images { entries[id] = image.map(ListedDocument.document) }
        if listing.includingMissing {
            let absent = Set(images.filter { $0.value == nil }.keys)
            try await updateMissing(&entries, absent: absent, listing, through: through, asOf: time)
        }
        return now.replacing(entries, changed: images, limit: listing.limit)
    }

    /// Lists exactly those documents as missing that did not exist at the time but had documents below them.
    private func updateMissing(
        _ entries: inout [DocumentID: ListedDocument],
        absent: Set<DocumentID>,
        _ listing: DocumentListing,
        through: DocumentID?,
        asOf time: Timestamp
    ) async throws(StatusError) {
        let segments = listing.collection.segments
        var candidates = absent
        for (id, entry) in entries {
            if case .missing = entry { candidates.insert(id) }
        }
        for key in try await difference(below: segments, since: time).existedBelowIDs(at: segments.count) {
            guard let id = try? DocumentID(key.string), listing.isBehindStart(id), entries[id] == nil else { continue }
            if through.map({ id <= $0 }) ?? true { candidates.insert(id) }
        }
        let populated = try await populated(candidates.map(\.key), in: segments, asOf: time)
        for id in candidates {
            entries[id] = populated.contains(id.key) ? .missing(listing.collection.document(id)) : nil
        }
    }

    /// The collections directly under a document, or at the top, that had a document in or below them at a time.
    func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        asOf time: Timestamp
    ) async throws(StatusError) -> CollectionPage {
        try await settle(at: time)
        let segments = parent?.segments ?? []
        let files = parts.files
        let now = try await listers.run { () throws(StatusError) in try files.folders.collections(under: segments) }
        let gone = try await difference(below: segments, since: time).existedBelowIDs(at: segments.count)
        let damaged = after == nil ? now.damaged : []
        let all = parts.uninstalled.collections(under: parent).union(now.ids).union(
            gone.compactMap { try? CollectionID($0.string) }
        )
        let candidates = all.filter { id in after.map { $0 < id } ?? true }.sorted()
        var found: [CollectionID] = []
        for start in stride(from: 0, to: candidates.count, by: limit + 1) {
            let some = candidates[start..<min(start + limit + 1, candidates.count)]
            let populated = try await populated(some.map(\.key), in: segments, asOf: time)
            for id in some where populated.contains(id.key) {
                if found.count == limit { return CollectionPage(collections: found, next: found.last, damaged: damaged) }
                found.append(id)
            }
        }
        return CollectionPage(collections: found, next: nil, damaged: damaged)
    }

    private func difference(below segments: [UTF8Key], since time: Timestamp) async throws(StatusError) -> TreeDifference {
        let view = try await parts.history.view(after: time)
        return try await listers.run { () throws(StatusError) in try view.difference(below: segments) }
    }

    /// Those IDs, of collections below a document or of documents in a collection, below which there was a document at a time.
    private func populated(
        _ ids: [UTF8Key],
        in segments: [UTF8Key],
        asOf time: Timestamp
    ) async throws(StatusError) -> Set<UTF8Key> {
        var populated: Set<UTF8Key> = []
        var undecided = ids
        var created: Set<UTF8Key> = []
        while !undecided.isEmpty {
            let (asked, others, parts) = (undecided, created, parts)
            // A document that is there now was there then, unless it was created since.
            let witnesses = try await listers.run { () throws(StatusError) in
                try asked.map { id throws(StatusError) -> UTF8Key? in
                    let place = segments + [id]
                    if let found = parts.uninstalled.someDocument(below: place, otherThan: others, in: parts.files) {
                        return found
                    }
                    return try parts.files.someDocument(below: place, otherThan: others)
                }
            }
            let difference = try await difference(below: segments, since: time)
            let existed = difference.existedBelowIDs(at: segments.count)
            created = Set(difference.created.map { UTF8Key(parts.files.place(of: $0)) })
            undecided = []
            for (id, witness) in zip(asked, witnesses) {
                if existed.contains(id) {
                    populated.insert(id)
                } else if let witness {
                    // One that has come into being just now proves nothing: another is looked for.
                    if created.contains(witness) { undecided.append(id) } else { populated.insert(id) }
                }
            }
        }
        return populated
    }
}

extension DocumentPage {
    /// The page with other entries, as many as it may hold.
    fileprivate func replacing(
        _ entries: [DocumentID: ListedDocument],
        changed: [DocumentID: EncodedDocument?],
        limit: Int
    ) -> DocumentPage {
        let sorted = entries.values.sorted { $0.path.id < $1.path.id }
        let page = Array(sorted.prefix(limit))
        return DocumentPage(
            documents: page,
            next: sorted.count > limit ? page.last?.path.id : next,
            damaged: damaged.filter { error in
                // What was at the time is told by the journal, whatever the file is now.
                guard let path = error.path, let document = try? DocumentPath(path) else { return true }
                return changed[document.id] == nil
            }
        )
    }
}
