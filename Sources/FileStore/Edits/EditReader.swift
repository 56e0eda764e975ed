internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import QueryEngine
internal import StorageIO
internal import UTF8Text

/// A reader of the files that other programs have edited, and of the versions that they replace.
struct EditReader: Sendable {
    /// The state of a file.
    enum State: Sendable {
        /// The store wrote the file.
        case committed
        /// The file is being changed, by a commit or by another program.
        case busy
        /// The file is an edit.
        case edited(FileEdit)
        /// The file cannot be read as a document.
        case damaged(StatusError, FileIdentity)
    }

    /// The state of a file as far as the file system and the cache tell it.
    private enum Reading: Sendable {
        case decided(State)
        /// The committed version must be looked up.
        case undecided(FileIdentity?, FileEdit.Contents?, owner: String?)
    }

    private let components: StoreComponents
    private let reader: DocumentReader

    init(_ components: StoreComponents, _ reader: DocumentReader) {
        self.components = components
        self.reader = reader
    }

    /// Returns whether the file of a document is the one that the last commit wrote, as far as the cache knows.
    ///
    /// A few microseconds; never waits for the disk.
    func isCommitted(_ path: DocumentPath) -> Bool {
        guard let entry = components.cache.entry(at: path), entry.isCommitted else { return false }
        return components.files.folders.cachedStatus(of: path)?.identity == entry.identity
    }

    /// Returns whether a document has a file, as far as the kernel knows without the disk.
    func hasFile(_ path: DocumentPath) -> Bool {
        components.files.folders.cachedStatus(of: path) != nil
    }

    /// Returns the documents without files.
    func removedFiles(among paths: [DocumentPath]) async throws(StatusError) -> [DocumentPath] {
        let files = components.files
        return try await reader.scanQueue.run { () throws(StatusError) in
            var removed: [DocumentPath] = []
            for path in paths {
                let folder = try files.folders.open(path.collection.segments)
                let name = files.folders.naming.file(of: path.id).text
                if (try? folder?.status(of: name)) == nil { removed.append(path) }
            }
            return removed
        }
    }

    /// Returns the states of files.
    ///
    /// - Parameter paths: Sorted, so that each folder is opened once.
    func states(of paths: [DocumentPath]) async throws(StatusError) -> [(path: DocumentPath, state: State)] {
        let readings = try await reader.scanQueue.run { [self] () throws(StatusError) in
            var readings: [(path: DocumentPath, reading: Reading)] = []
            var folder: (collection: CollectionPath, descriptor: SharedFileDescriptor?)?
            for path in paths {
                if folder?.collection != path.collection {
                    folder = (path.collection, try sharedFolder(of: path.collection))
                }
                readings.append((path, try reading(of: path, in: folder?.descriptor)))
            }
            return readings
        }
        let bases = try await bases(
            of: readings.compactMap { path, reading in if case .undecided = reading { path } else { nil } }
        )
        return readings.map { path, reading in
            switch reading {
            case .decided(let state): return (path, state)
            case .undecided(let identity, let contents, let owner):
                let base = bases[path] ?? .unknown
                return (
                    path, .edited(FileEdit(path: path, identity: identity, contents: contents, base: base, owner: owner))
                )
            }
        }
    }

    private func sharedFolder(of collection: CollectionPath) throws(StatusError) -> SharedFileDescriptor? {
        guard let folder = try components.files.folders.open(collection.segments) else { return nil }
        return SharedFileDescriptor(folder)
    }

    private func reading(of path: DocumentPath, in shared: SharedFileDescriptor?) throws(StatusError) -> Reading {
        // Its file will be written, or has to be by hand.
        if components.unapplied.image(of: path) != nil { return .decided(.busy) }
        let entry = components.cache.entry(at: path)
        guard let folder = shared else { return reading(of: path, nil, nil, owner: nil, entry) }
        let name = components.files.folders.naming.file(of: path.id).text
        let filePath = components.files.filePath(of: path)
        let status = try reporting("get the status of", filePath) { () throws(FileSystemError) in
            try folder.descriptor.status(of: name)
        }
        guard let status else { return reading(of: path, nil, nil, owner: nil, entry) }
        if let entry, entry.isCommitted, entry.identity == status.identity { return .decided(.committed) }
        do throws(StatusError) {
            guard let file = try components.files.edited(name, id: path.id, in: path.collection, folder.descriptor) else {
                return reading(of: path, nil, nil, owner: nil, entry)
            }
            guard file.identity == status.identity else { return .decided(.busy) }
            return reading(of: path, file.identity, file.contents, owner: FileOwner.name(ofUser: status.owner), entry)
        } catch {
            guard error.affectsSingleFile else { throw error }
            return .decided(.damaged(error, status.identity))
        }
    }

    private func reading(
        of path: DocumentPath,
        _ identity: FileIdentity?,
        _ contents: FileEdit.Contents?,
        owner: String?,
        _ entry: DocumentCache.Entry?
    ) -> Reading {
        guard let base = entry?.version(before: identity) else { return .undecided(identity, contents, owner: owner) }
        return .decided(
            .edited(FileEdit(path: path, identity: identity, contents: contents, base: .known(base), owner: owner))
        )
    }

    /// Returns the last committed version of a document before its file got an identity.
    func base(of path: DocumentPath, before identity: FileIdentity) async throws(StatusError) -> FileEdit.Base {
        if let version = components.cache.entry(at: path)?.version(before: identity) { return .known(version) }
        return try await bases(of: [path])[path] ?? .unknown
    }

    /// Looks up the last committed versions of documents: in the journal, or else whether they existed, in the index.
    private func bases(of paths: [DocumentPath]) async throws(StatusError) -> [DocumentPath: FileEdit.Base] {
        guard !paths.isEmpty else { return [:] }
        var bases = try await reader.lastRetainedVersions(of: paths).mapValues { FileEdit.Base.known($0.document) }
        let others = paths.filter { bases[$0] == nil }
        guard !others.isEmpty else { return bases }
        let known = try await withIndex { snapshot throws(StatusError) in
            try others.map { path throws(StatusError) in try snapshot.contains(path) }
        }
        for (path, isKnown) in zip(others, known) { bases[path] = isKnown ? .unknown : .known(nil) }
        return bases
    }

    /// Returns the version of a document as of a time; `nil` if it is not retained.
    func version(of path: DocumentPath, asOf time: Timestamp) async throws(StatusError) -> EncodedDocument? {
        do throws(StatusError) {
            return try await reader.document(at: path, asOf: time)
        } catch {
            guard error.code == .failedPrecondition || error.code == .outOfRange else { throw error }
            return nil
        }
    }

    /// Returns the indexed documents in and below a location.
    func indexedDocuments(in location: DocumentLocation) async throws(StatusError) -> [DocumentPath] {
        try await withIndex { snapshot throws(StatusError) in try snapshot.documents(in: location) }
    }

    /// Returns the documents in and below a location that have a file and are not in the index, or the reverse: in collections with
    /// another number of files than of indexed documents, or with a new file that has taken the place of another one.
    ///
    /// - Parameter scan: The result of a scan of the location. Other collections have no folder.
    func unindexedChanges(
        in location: DocumentLocation,
        _ scan: EditScan.Result
    ) async throws(StatusError) -> [DocumentPath] {
        let counts = scan.counts
        let (changed, indexed) = try await withIndex { snapshot throws(StatusError) in
            var changed: Set<CollectionPath> = []
            var indexedCount = 0
            for (collection, count) in counts {
                let size = try snapshot.size(of: collection).documentCount
                indexedCount += size
                if size != count { changed.insert(collection) }
            }
            for path in scan.candidates where !changed.contains(path.collection) {
                if try !snapshot.contains(path) { changed.insert(path.collection) }
            }
            var indexed: [DocumentPath] = []
            for collection in changed {
                indexed += try snapshot.documents(in: .collection(collection)).filter { $0.collection == collection }
            }
            let all = IndexScan(target: .all(below: nil), index: .documents, names: location.names)
            if try snapshot.count(all, limit: nil) > indexedCount {
                indexed += try snapshot.documents(in: location).filter { counts[$0.collection] == nil }
            }
            return (changed, indexed)
        }
        let folders = components.files.folders
        let files = try await reader.scanQueue.run(priority: .low) { () throws(StatusError) in
            var paths: [DocumentPath] = []
            for collection in changed { paths += try folders.documents(in: collection) }
            return paths
        }
        return Array(Set(files).symmetricDifference(indexed))
    }

    private func withIndex<Result: Sendable>(
        _ body: @escaping @Sendable (IndexSnapshot) throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        try await components.index.read(atLeast: components.feed.position.lastSequence, isUse: false, body)
    }
}

extension IndexSnapshot {
    /// Returns whether a document is in the index, and could be read when it was built.
    fileprivate func contains(_ path: DocumentPath) throws(StatusError) -> Bool {
        let name = NameKey(path.id).bytes
        let scan = IndexScan(
            target: .collection(path.collection),
            index: .documents,
            names: Range(from: name, to: name + [0])
        )
        guard try cursor(scan, probing: []).next() else { return false }
        return try !unreadablePaths(in: .collection(path.collection)).contains(path)
    }

    /// Returns the documents in and below a location.
    fileprivate func documents(in location: DocumentLocation) throws(StatusError) -> [DocumentPath] {
        let cursor = try cursor(IndexScan(target: .all(below: nil), index: .documents, names: location.names), probing: [])
        var paths: [DocumentPath] = []
        while try cursor.next() {
            if let path = DocumentPath(nameKey: cursor.name) { paths.append(path) }
        }
        return paths
    }
}

extension DocumentFolders {
    /// Lists the documents in the folder of a collection, but for those with shortened names.
    fileprivate func documents(in collection: CollectionPath) throws(StatusError) -> [DocumentPath] {
        guard let folder = try open(collection.segments) else { return [] }
        var paths: [DocumentPath] = []
        try forEachEntry(of: folder, folderPath(collection.segments), at: .collection) { _, entry in
            if case .document(let id?) = entry { paths.append(collection.document(id)) }
            return true
        }
        return paths
    }
}
