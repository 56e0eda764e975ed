internal import DocumentModel
internal import UTF8Text

extension LocalStore {
    /// Returns whether a bundle with the ID that is not older has been loaded.
    mutating func hasLoaded(_ metadata: BundleMetadata) throws(StatusError) -> Bool {
        let loaded = try transaction { (cache: inout Cache) throws(StatusError) in try cache.target(.bundle(metadata.id)) }
        return loaded?.snapshotTime.map { $0 >= metadata.createTime } ?? false
    }

    /// Stores a bundle in one transaction: documents by the rule of their versions, and the results of queries that are newer than
    /// those known.
    ///
    /// The documents are in a target of the bundle. When that is evicted, the bundle counts as not loaded. A target with listeners keeps
    /// its documents and token, since its stream tells what changes.
    ///
    /// - Returns: The documents that changed.
    mutating func load(_ bundle: DocumentBundle) throws(StatusError) -> LocalDocuments {
        let (user, epochs, activeTargets) = (user, epochs, activeTargets)
        let (removed, documents) = try transaction { (cache: inout Cache) throws(StatusError) in
            let use = try cache.nextUse()
            var removed = try cache.replaceResult(
                of: .bundle(bundle.metadata.id),
                with: bundle.paths(in: nil),
                at: bundle.metadata.createTime,
                use
            )
            for query in bundle.queries {
                let cached = try cache.target(query.view.target)
                try cache.save(query.named)
                if let cached, activeTargets[cached.id] != nil { continue }
                if let time = cached?.snapshotTime, time >= query.named.readTime { continue }
                removed.formUnion(
                    try cache.replaceResult(
                        of: query.view.target,
                        with: bundle.paths(in: query.named.name),
                        at: query.named.readTime,
                        use
                    )
                )
            }
            if !removed.isEmpty { try cache.touch(removed, use: use) }
            let event = RemoteEvent(documents: bundle.documents.map(\.document))
            return (removed, try cache.store(event, in: epochs, for: user))
        }
        recordChanges(of: documents.keys)
        suggestEviction(of: removed)
        suggestEviction(of: documents.keys)
        return documents
    }

    /// Returns a query that a bundle has brought; `nil` if there is none with the name.
    mutating func namedQuery(_ name: UTF8Key) throws(StatusError) -> NamedQuery? {
        try transaction { (cache: inout Cache) throws(StatusError) in try cache.namedQuery(name) }
    }
}

extension DocumentBundle {
    /// Returns the existing documents, or those in the result of a query.
    fileprivate func paths(in query: UTF8Key?) -> Set<DocumentPath> {
        let members = documents.filter { $0.document.isFound && (query.map($0.queries.contains) ?? true) }
        return Set(members.map(\.document.path))
    }
}

extension LocalCache {
    /// Replaces the documents of a target, without a token from which a stream could resume, and returns those that left it.
    fileprivate mutating func replaceResult(
        of target: SyncTarget,
        with paths: Set<DocumentPath>,
        at time: Timestamp,
        _ use: UseNumber
    ) throws(StatusError) -> Set<DocumentPath> {
        var cached = if let known = try self.target(target) { known } else { try addTarget(target) }
        let known = try keys(of: cached.id)
        let removed = known.subtracting(paths)
        try updateKeys(of: cached.id, adding: paths.subtracting(known), removing: removed)
        cached.token = nil
        cached.syncedChange = nil
        cached.snapshotTime = time
        cached.lastUse = use
        try save(cached)
        return removed
    }
}
