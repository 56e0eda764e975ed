internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import StorageIO
internal import UTF8Text

// Point-in-time reads read the files first and the journal's index afterward. Every commit is indexed before its documents become
// visible in the files, so a document that was read from its file, and that no commit has changed since the read time, is as it
// was at that time.

extension DocumentReader {
    /// Returns the document at `path` as of a time.
    func document(at path: DocumentPath, asOf time: Timestamp) async throws(StatusError) -> EncodedDocument? {
        try await waitForInFlightCommits(through: time)
        let current = await currentDocumentResult(at: path)
        let view = try await components.history.view(after: time)
        return try await scanQueue.run { () throws(StatusError) in
            if let image = try view.image(of: path) { return image }
            return try current.get()
        }
    }

    /// Ensures that no later commit gets a time up to `time`, and waits for the commits in flight that may have one.
    ///
    /// A read thus waits for a commit's sync only when its result depends on it.
    ///
    /// - Throws: `.invalidArgument` when the time is in the future.
    func waitForInFlightCommits(through time: Timestamp) async throws(StatusError) {
        if let last = components.feed.position.lastCommitTime, time <= last { return }
        guard components.timestamps.observeRead(at: time) else {
            // The time of a commit that is readable but not published yet may be ahead of a clock that was set back.
            if let last = try await components.feed.safePosition().lastCommitTime, time <= last { return }
            throw StatusError.readTimeInFuture(time)
        }
        try await components.timestamps.waitForInFlightCommits(through: time)
    }

    /// Returns a page of a collection's documents as of one point in time, which is the present unless a commit changes the
    /// collection meanwhile.
    func documents(_ request: DocumentPageRequest) async throws(StatusError) -> DocumentPage {
        let start = components.feed.position.lastSequence
        let page = try await currentDocuments(request)
        let end = try await components.feed.safePosition()
        guard components.feed.mayHaveChanged(request.collection, after: start, through: end.lastSequence),
            let time = end.lastCommitTime
        else { return page }
        return try await documents(request, asOf: time)
    }

    /// Returns a page of a collection's documents as of a time: the current page with the changes since undone.
    func documents(_ request: DocumentPageRequest, asOf time: Timestamp) async throws(StatusError) -> DocumentPage {
        try await waitForInFlightCommits(through: time)
        var request = request
        while true {
            let page = try await page(request, asOf: time)
            // If all documents of the current page have been created since, the next page follows.
            guard page.documents.isEmpty, page.damaged.isEmpty, let next = page.next else { return page }
            request.after = next
        }
    }

    private func page(_ request: DocumentPageRequest, asOf time: Timestamp) async throws(StatusError) -> DocumentPage {
        let current = try await currentDocuments(request)
        let view = try await components.history.view(after: time)
        var entries = Dictionary(uniqueKeysWithValues: current.documents.map { ($0.path.id, $0) })
        let (collection, ids, through) = (request.collection, Set(entries.keys), current.next)
        let images = try await scanQueue.run(priority: .low) { () throws(StatusError) in
            try view.images(in: collection, page: ids, bounds: (request.after, through), limit: request.limit + 1)
        }
        for (id, image) in images { entries[id] = image.map(ListedDocument.document) }
        if request.includingMissing {
            let absent = Set(images.filter { $0.value == nil }.keys)
            try await updateMissing(&entries, absent: absent, request, through: through, asOf: time)
        }
        return current.replacing(entries, changed: images, limit: request.limit)
    }

    /// Updates the missing documents to those that did not exist at the time but had subcollections.
    private func updateMissing(
        _ entries: inout [DocumentPath.ID: ListedDocument],
        absent: Set<DocumentPath.ID>,
        _ request: DocumentPageRequest,
        through: DocumentPath.ID?,
        asOf time: Timestamp
    ) async throws(StatusError) {
        let segments = request.collection.segments
        var candidates = absent
        for (id, entry) in entries {
            if case .missing = entry { candidates.insert(id) }
        }
        for key in try await changes(below: segments, since: time).idsWithFormerDescendants(at: segments.count) {
            guard let id = try? DocumentPath.ID(key.string), request.isAfterStart(id), entries[id] == nil else { continue }
            if through.map({ id <= $0 }) ?? true { candidates.insert(id) }
        }
        let nonEmpty = try await idsWithDescendants(candidates.map(\.key), in: segments, asOf: time)
        for id in candidates {
            entries[id] = nonEmpty.contains(id.key) ? .missing(request.collection.document(id)) : nil
        }
    }

    /// Returns a page of the collections directly under a document, or of the root collections, as of a time.
    func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        asOf time: Timestamp
    ) async throws(StatusError) -> CollectionPage {
        try await waitForInFlightCommits(through: time)
        let segments = parent?.segments ?? []
        let files = components.files
        let current = try await scanQueue.run(priority: .low) { () throws(StatusError) in
            try files.folders.collections(under: segments)
        }
        let deleted = try await changes(below: segments, since: time).idsWithFormerDescendants(at: segments.count)
        let damaged = after == nil ? current.damaged : []
        let all = components.unapplied.collections(under: parent).union(current.ids).union(
            deleted.compactMap { try? CollectionID($0.string) }
        )
        let candidates = all.filter { id in after.map { $0 < id } ?? true }.sorted()
        var found: [CollectionID] = []
        for start in stride(from: 0, to: candidates.count, by: limit + 1) {
            let chunk = candidates[start..<min(start + limit + 1, candidates.count)]
            let nonEmpty = try await idsWithDescendants(chunk.map(\.key), in: segments, asOf: time)
            for id in chunk where nonEmpty.contains(id.key) {
                if found.count == limit { return CollectionPage(collections: found, next: found.last, damaged: damaged) }
                found.append(id)
            }
        }
        return CollectionPage(collections: found, next: nil, damaged: damaged)
    }

    private func changes(below segments: [UTF8Key], since time: Timestamp) async throws(StatusError) -> SubtreeChanges {
        let view = try await components.history.view(after: time)
        return try await scanQueue.run(priority: .low) { () throws(StatusError) in try view.changes(below: segments) }
    }

    /// Returns those of the IDs, of collections under a document or documents in a collection, below which a document existed at
    /// a time.
    private func idsWithDescendants(
        _ ids: [UTF8Key],
        in segments: [UTF8Key],
        asOf time: Timestamp
    ) async throws(StatusError) -> Set<UTF8Key> {
        var nonEmpty: Set<UTF8Key> = []
        var undecided = ids
        var created: Set<UTF8Key> = []
        while !undecided.isEmpty {
            let (candidates, excluded, components) = (undecided, created, components)
            // A document that exists now existed at the time, unless it was created since.
            let witnesses = try await scanQueue.run(priority: .low) { () throws(StatusError) in
                try candidates.map { id throws(StatusError) -> UTF8Key? in
                    let path = segments + [id]
                    if let found = components.unapplied.anyDocument(below: path, excluding: excluded, in: components.files) {
                        return found
                    }
                    let deleted = components.unapplied.deletedFiles(below: path, in: components.files)
                    return try components.files.anyDocument(below: path, excluding: excluded.union(deleted))
                }
            }
            let changes = try await changes(below: segments, since: time)
            let existed = changes.idsWithFormerDescendants(at: segments.count)
            created = Set(changes.created.map { UTF8Key(components.files.filePath(of: $0)) })
            undecided = []
            for (id, witness) in zip(candidates, witnesses) {
                if existed.contains(id) {
                    nonEmpty.insert(id)
                } else if let witness {
                    // A document created since proves nothing, so another witness is needed.
                    if created.contains(witness) { undecided.append(id) } else { nonEmpty.insert(id) }
                }
            }
        }
        return nonEmpty
    }
}

extension DocumentPage {
    /// Returns the page with other entries, up to a limit.
    fileprivate func replacing(
        _ entries: [DocumentPath.ID: ListedDocument],
        changed: [DocumentPath.ID: EncodedDocument?],
        limit: Int
    ) -> DocumentPage {
        let sorted = entries.values.sorted { $0.path.id < $1.path.id }
        let page = Array(sorted.prefix(limit))
        return DocumentPage(
            documents: page,
            next: sorted.count > limit ? page.last?.path.id : next,
            damaged: damaged.filter { error in
                // The journal determines a changed document as of the time, regardless of what its file contains now.
                guard let path = error.path, let document = try? DocumentPath(path) else { return true }
                return changed[document.id] == nil
            }
        )
    }
}
