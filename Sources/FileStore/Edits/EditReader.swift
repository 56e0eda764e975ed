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
        /// The folder of the file is a link or the like. What it has had is neither edited nor deleted.
        case unreachable
        /// The last commit of the document could not be written to the file when the store was opened, and cannot yet.
        case quarantined(StatusError)
    }

    /// The state of a file as far as the file system and the cache tell it.
    private enum Reading: Sendable {
        case decided(State)
        /// A file that is not known to be the store's own.
        case file(FoundFile)
    }

    /// A file, to be compared with the last committed version of its document.
    private struct FoundFile: Sendable {
        /// The identity; `nil` if there is no file.
        var identity: FileIdentity?
        var contents: FileEdit.Contents?
        /// The name of the user who owns it.
        var owner: String?
    }

    private let components: StoreComponents
    private let reader: DocumentReader
    private let commitQueue: CommitQueue

    init(_ components: StoreComponents, _ reader: DocumentReader, _ commitQueue: CommitQueue) {
        self.components = components
        self.reader = reader
        self.commitQueue = commitQueue
    }

    /// Returns whether the file of a document is the one that the last commit wrote, as far as the cache knows.
    ///
    /// A few microseconds; never waits for the disk.
    func isCommitted(_ path: DocumentPath) -> Bool {
        components.files.folders.cachedStatus(of: path).map { isCommitted(path, $0.identity) } ?? false
    }

    private func isCommitted(_ path: DocumentPath, _ identity: FileIdentity) -> Bool {
        guard let entry = components.cache.entry(at: path) else { return false }
        return entry.isCommitted && entry.identity == identity
    }

    /// Returns whether a document has a file, as far as the kernel knows without the disk.
    func hasFile(_ path: DocumentPath) -> Bool {
        components.files.folders.cachedStatus(of: path) != nil
    }

    /// Returns the documents without files.
    func removedFiles(among paths: [DocumentPath]) async throws(StatusError) -> [DocumentPath] {
        try await unknownFiles(among: paths).removed
    }

    /// Returns the documents whose files are not known to be the store's own, in order, and those of them without files.
    func unknownFiles(
        among paths: [DocumentPath]
    ) async throws(StatusError) -> (paths: [DocumentPath], removed: [DocumentPath]) {
        try await reader.scanQueue.run { [self] () throws(StatusError) in
            var (unknown, removed): ([DocumentPath], [DocumentPath]) = ([], [])
            try forEach(paths.sorted()) { path, folder in
                if case .reachable(let descriptor) = folder {
                    let status = status(of: path, in: descriptor)
                    if let status, isCommitted(path, status.identity) { return }
                    if status == nil { removed.append(path) }
                }
                unknown.append(path)
            }
            return (unknown, removed)
        }
    }

    private func status(of path: DocumentPath, in folder: SharedFileDescriptor?) -> FileStatus? {
        try? folder?.descriptor.status(of: components.files.folders.naming.file(of: path.id).text)
    }

    /// Returns the states of files.
    ///
    /// - Parameter paths: Sorted, so that each folder is opened once.
    func states(
        of paths: some Collection<DocumentPath> & Sendable
    ) async throws(StatusError) -> [(path: DocumentPath, state: State)] {
        let failures = try await retryQuarantined(among: paths)
        let (readings, changed) = try await readings(of: paths)
        let mayBeInBatch = readings.contains { path, reading in
            if case .file(let file) = reading { file.identity == nil || changed.contains(path) } else { false }
        }
        // The batch may be between the changes of its files and those of the cache, or delete a document whose file is missing already.
        if mayBeInBatch { await commitQueue.waitForBatch() }
        let unknown = readings.compactMap { path, reading in
            if case .file(let file) = reading, knownVersion(of: path, before: file.identity) == nil { path } else { nil }
        }
        let bases = try await bases(of: unknown)
        return readings.map { path, reading in
            switch reading {
            case .decided(.busy): (path, failures[path].map { .quarantined($0) } ?? .busy)
            case .decided(let state): (path, state)
            case .file(let file): (path, state(of: file, at: path, lookedUp: bases[path]))
            }
        }
    }

    /// Retries the recovery of quarantined documents that have files, which may be edits. Returns the errors of those that remain so.
    private func retryQuarantined(
        among paths: some Collection<DocumentPath>
    ) async throws(StatusError) -> [DocumentPath: StatusError] {
        let quarantined = paths.filter { components.unapplied.quarantinedState(of: $0) != nil }
        guard !quarantined.isEmpty else { return [:] }
        let missing = Set(try await removedFiles(among: quarantined))
        var failures: [DocumentPath: StatusError] = [:]
        for path in quarantined where !missing.contains(path) {
            failures[path] = await commitQueue.retryQuarantined(path)
        }
        return failures
    }

    /// Reads files. Returns also the documents whose files commits have changed in the meantime.
    private func readings(
        of paths: some Collection<DocumentPath> & Sendable
    ) async throws(StatusError) -> (readings: [(path: DocumentPath, reading: Reading)], changed: Set<DocumentPath>) {
        try await reader.scanQueue.run { [self] () throws(StatusError) in
            let (readings, changed) = try components.files.log.trackingChanges { () throws(StatusError) in
                var readings: [(path: DocumentPath, reading: Reading)] = []
                var owners = OwnerNames()
                try forEach(paths) { path, folder throws(StatusError) in
                    switch folder {
                    case .reachable(let descriptor): readings.append((path, try reading(of: path, in: descriptor, &owners)))
                    case .unreachable: readings.append((path, .decided(.unreachable)))
                    }
                }
                return readings
            }
            return (readings, changed)
        }
    }

    /// Returns the state of a file, once no batch of commits that may have written it is in progress.
    ///
    /// - Parameter lookedUp: The last committed version of the document; `nil` if it was not looked up.
    private func state(of file: FoundFile, at path: DocumentPath, lookedUp: FileEdit.Base?) -> State {
        if let identity = file.identity, isOfStore(identity, path) { return .committed }
        let known = knownVersion(of: path, before: file.identity)
        var base = known.map { FileEdit.Base.known($0) } ?? lookedUp
        // The index has the document.
        if file.identity == nil, base == .unknown, let read = components.cache.entry(at: path)?.versionBeforeRemoval {
            base = .known(read)
        }
        // It has left the cache since.
        guard let base else { return .busy }
        var edit = FileEdit(path: path, identity: file.identity, contents: file.contents, base: base, owner: file.owner)
        if let statedTime = file.contents?.times?.update {
            if let kept = components.unapplied.keptText(of: path) {
                edit.isOfKeptText = kept.text.statedTime == statedTime
            } else if case .known(let document?) = base {
                edit.isOfKeptText = components.editProblems?.isFollower(path, of: document, stating: statedTime) ?? false
            }
        }
        return .edited(edit)
    }

    /// Returns whether a file is the one that the last commit of its document wrote, or an edit whose text it kept, as far as memory has
    /// it.
    private func isOfStore(_ identity: FileIdentity, _ path: DocumentPath) -> Bool {
        isCommitted(path, identity) || components.unapplied.keptText(of: path)?.text.identity == identity
    }

    private enum OpenedFolder {
        /// A folder; `nil` if there is none.
        case reachable(SharedFileDescriptor?)
        case unreachable
    }

    /// Calls `body` with documents and the folders of their files. Documents of a collection that follow each other have the same folder.
    private func forEach(
        _ paths: some Sequence<DocumentPath>,
        _ body: (DocumentPath, OpenedFolder) throws(StatusError) -> Void
    ) throws(StatusError) {
        var last: (collection: CollectionPath, folder: OpenedFolder)?
        for path in paths {
            if let last, last.collection == path.collection {
                try body(path, last.folder)
            } else {
                let folder = try open(path.collection)
                last = (path.collection, folder)
                try body(path, folder)
            }
        }
    }

    private func open(_ collection: CollectionPath) throws(StatusError) -> OpenedFolder {
        do throws(StatusError) {
            guard let folder = try components.files.folders.open(collection.segments) else { return .reachable(nil) }
            return .reachable(SharedFileDescriptor(folder))
        } catch {
            guard error.affectsSingleFile else { throw error }
            return .unreachable
        }
    }

    /// The names of users, each of which the system is asked for once.
    private struct OwnerNames {
        private var names: [UInt32: String?] = [:]

        mutating func name(ofUser id: UInt32) -> String? {
            if let name = names[id] { return name }
            let name = FileOwner.name(ofUser: id)
            names[id] = .some(name)
            return name
        }
    }

    private func reading(
        of path: DocumentPath,
        in shared: SharedFileDescriptor?,
        _ owners: inout OwnerNames
    ) throws(StatusError) -> Reading {
        // Its file will be written, or has to be by hand.
        if components.unapplied.keptText(of: path) == nil, components.unapplied.image(of: path) != nil {
            return .decided(.busy)
        }
        guard let folder = shared else { return .file(FoundFile()) }
        let name = components.files.folders.naming.file(of: path.id).text
        let status = try reporting("get the status of", components.files.filePath(of: path)) { () throws(FileSystemError) in
            try folder.descriptor.status(of: name)
        }
        guard let status else { return .file(FoundFile()) }
        if isOfStore(status.identity, path) { return .decided(.committed) }
        do throws(StatusError) {
            guard let file = try components.files.edited(name, id: path.id, in: path.collection, folder.descriptor) else {
                return .file(FoundFile())
            }
            guard file.identity == status.identity else { return .decided(.busy) }
            let owner = owners.name(ofUser: status.owner)
            return .file(FoundFile(identity: file.identity, contents: file.contents, owner: owner))
        } catch {
            guard error.affectsSingleFile else { throw error }
            return .decided(.damaged(error, status.identity))
        }
    }

    /// Returns the last committed version of a document before its file got an identity, as far as memory has it.
    private func knownVersion(of path: DocumentPath, before identity: FileIdentity?) -> EncodedDocument?? {
        if let kept = components.unapplied.keptText(of: path) { return kept.document }
        return components.cache.entry(at: path)?.version(before: identity)
    }

    /// Returns the last committed version of a document before its file got an identity.
    func base(of path: DocumentPath, before identity: FileIdentity) async throws(StatusError) -> FileEdit.Base {
        if let version = knownVersion(of: path, before: identity) { return .known(version) }
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

    /// Returns the version on whose basis a text was edited that states a time: the last one since then that only edits of the file have
    /// made, which kept the text; `nil` if it is not retained.
    func versionOfText(of path: DocumentPath, stating time: Timestamp) async throws(StatusError) -> EncodedDocument? {
        guard var base = try await version(of: path, asOf: time) else { return nil }
        let page = try await reader.versions(of: path, before: nil, limit: Self.textVersions)
        guard page.next == nil || page.versions.contains(where: { $0.commitTime <= time }) else { return base }
        for version in page.versions.reversed() where version.commitTime > time {
            guard FileEdit.isAuthor(version.author), let document = version.document else { break }
            base = document
        }
        return base
    }

    /// The maximum number of versions that are looked at for the basis of a text.
    private static let textVersions = 50

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
