internal import DocumentModel
internal import DocumentStore
internal import StorageIO
internal import Synchronization
internal import UTF8Text

/// Documents of durable commits that are not in their files.
///
/// A commit is durable once it is in the journal, so readers overlay these documents on the files. There are four kinds:
///
/// - Documents of a large commit that are *being installed*: their files are written after the commit, while others go on.
/// - Documents whose file could *not be changed*. While there are any, the journal is retained and the store rejects writes; see
///   ``Committer``.
/// - *Quarantined* documents, whose files or folders recovery found without write permission. They are stored in a separate file,
///   and block only their own writes; see ``QuarantinedDocuments``.
/// - Documents whose files *keep the text* of an edit until their next commit: the same fields in another form, without the times. They
///   are stored like quarantined ones, and block nothing.
final class UnappliedDocuments: Sendable {
    private enum Reason {
        case installing
        case failed
        case quarantined(CommittedState)
        case keptText(KeptText)
    }

    /// The text of an edit that a document's file keeps.
    struct KeptText {
        /// The identity of the file.
        let identity: FileIdentity
        /// The update time that the text states; `nil` if it states none.
        let statedTime: Timestamp?
    }

    /// The maximum number of files that keep their texts, and of their documents' bytes. These documents are in memory.
    private static let maximumKeptTexts = (count: 1_000, bytes: 16 << 20)

    private struct Entry {
        /// The document as of its last commit; `nil` if it was deleted.
        let image: EncodedDocument?
        let reason: Reason
    }

    private struct State {
        private(set) var collections: [CollectionPath: [DocumentPath.ID: Entry]] = [:]
        /// The number of documents that could not be applied or are quarantined.
        private(set) var stuckCount = 0
        /// The number of documents that could not be applied, which block all writes.
        private(set) var failedCount = 0
        /// The number and the bytes of documents whose files keep their texts.
        private(set) var keptTexts = (count: 0, bytes: 0)
        /// The error of the last document that could not be applied.
        var failure: StatusError?
        /// The first commit whose documents are being installed.
        var firstInstalling: SequenceNumber?

        subscript(_ path: DocumentPath) -> Entry? {
            get { collections[path.collection]?[path.id] }
            set {
                count(self[path], -1)
                count(newValue, 1)
                collections[path.collection, default: [:]][path.id] = newValue
                if collections[path.collection]?.isEmpty == true { collections[path.collection] = nil }
            }
        }

        private mutating func count(_ entry: Entry?, _ change: Int) {
            switch entry?.reason {
            case .failed:
                failedCount += change
                stuckCount += change
            case .quarantined: stuckCount += change
            case .keptText:
                keptTexts.count += change
                keptTexts.bytes += change * (entry?.image?.fieldsJSON.count ?? 0)
            case .installing, nil: break
            }
        }

        /// Returns the documents for which `transform` returns a value.
        func compactMap<Result>(_ transform: (DocumentPath, Entry) -> Result?) -> [Result] {
            collections.flatMap { (collection, entries) -> [Result] in
                entries.compactMap { (id, entry) -> Result? in transform(collection.document(id), entry) }
            }
        }

        /// The collections in or below a collection, or below a document, with their documents.
        func collections(below segments: [UTF8Key]) -> some Sequence<(key: CollectionPath, value: [DocumentPath.ID: Entry])> {
            collections.lazy.filter { $0.key.segments.starts(with: segments) }
        }
    }

    private let state = Mutex(State())
    /// True if there are any documents, so that readers don't contend for the lock.
    private let hasImages = Atomic(false)

    /// The current state, to be searched without holding the lock; `nil` if there are no documents.
    private var snapshot: State? {
        hasDocuments ? state.withLock(\.self) : nil
    }

    /// True if there are any documents. Costs no lock.
    var hasDocuments: Bool { hasImages.load(ordering: .acquiring) }

    /// True if all commits are applied.
    var isEmpty: Bool { state.withLock { $0.collections.isEmpty } }

    /// The number of documents whose files could not be changed.
    var stuckCount: Int { state.withLock { $0.stuckCount } }

    /// The error for subsequent writes, or `nil` if no document blocks them.
    var writeBlockedError: StatusError? {
        let cause = state.withLock { $0.failedCount == 0 ? nil : $0.failure }
        guard let cause else { return nil }
        return StatusError(
            cause.code == .resourceExhausted ? .resourceExhausted : .unavailable,
            "Writes are blocked because an earlier commit cannot be applied to its document file: \(cause.message) "
                + "Writes resume automatically once the problem is fixed.",
            cause: cause
        )
    }

    /// All unapplied documents, as of their last commit; `nil` for deleted ones.
    var all: [DocumentPath: EncodedDocument?] {
        state.withLock { state in Dictionary(uniqueKeysWithValues: state.compactMap { ($0, $1.image) }) }
    }

    /// The documents that block all writes.
    var blocking: [(path: DocumentPath, image: EncodedDocument?)] {
        state.withLock { state in
            guard state.failedCount > 0 else { return [] }
            return state.compactMap { (path, entry) -> (path: DocumentPath, image: EncodedDocument?)? in
                guard case .failed = entry.reason else { return nil }
                return (path, entry.image)
            }
        }
    }

    /// The quarantined documents, sorted.
    var quarantined: [QuarantinedDocument] { documents(withKeptTexts: false) }

    /// The documents that are stored outside of their files, because they are quarantined or their files keep their texts, sorted.
    var stored: [QuarantinedDocument] { documents(withKeptTexts: true) }

    private func documents(withKeptTexts: Bool) -> [QuarantinedDocument] {
        let documents = state.withLock { state -> [QuarantinedDocument] in
            guard state.stuckCount > state.failedCount || withKeptTexts && state.keptTexts.count > 0 else { return [] }
            return state.compactMap { (path, entry) -> QuarantinedDocument? in
                switch (entry.reason, entry.image) {
                case (.quarantined(let state), let image): QuarantinedDocument(path: path, image: image, time: state.time)
                case (.keptText, let image?) where withKeptTexts:
                    QuarantinedDocument(path: path, image: image, time: image.updateTime, keepsText: true)
                default: nil
                }
            }
        }
        return documents.sorted { $0.path < $1.path }
    }

    /// Returns the state of a quarantined document, or `nil` for any other document.
    func quarantinedState(of path: DocumentPath) -> CommittedState? {
        guard hasDocuments else { return nil }
        return state.withLock { state in
            guard case .quarantined(let committed)? = state[path]?.reason else { return nil }
            return committed
        }
    }

    /// Returns the unapplied document at `path`: `.some(nil)` if it was deleted, nil if its file is current.
    func image(of path: DocumentPath) -> EncodedDocument?? {
        guard hasDocuments else { return nil }
        return state.withLock { state in state[path].map(\.image) }
    }

    /// The unapplied documents in and below a collection.
    struct CollectionOverlay {
        /// The collection's unapplied documents, as of their last commit.
        var images: [DocumentPath.ID: EncodedDocument?] = [:]
        /// The IDs of documents with existing unapplied descendants.
        var parents: Set<DocumentPath.ID> = []
        /// The deleted unapplied documents below the collection's documents.
        var deletedDescendants: [DocumentPath] = []
    }

    /// Returns the overlay of a collection.
    func overlay(of collection: CollectionPath) -> CollectionOverlay {
        guard let state = snapshot else { return CollectionOverlay() }
        var overlay = CollectionOverlay()
        let segments = collection.segments
        for (path, entries) in state.collections(below: segments) {
            if path == collection {
                overlay.images = entries.mapValues(\.image)
                continue
            }
            overlay.deletedDescendants += entries.lazy.filter { $0.value.image == nil }.map { path.document($0.key) }
            if entries.values.contains(where: { $0.image != nil }),
                let id = try? DocumentPath.ID(path.segments[segments.count].string)
            {
                overlay.parents.insert(id)
            }
        }
        return overlay
    }

    /// Returns the subcollections of a document, or the root collections, with existing unapplied documents in or below them.
    func collections(under parent: DocumentPath?) -> Set<CollectionID> {
        guard let state = snapshot else { return [] }
        let segments = parent?.segments ?? []
        return state.collections(below: segments).reduce(into: []) { collections, entry in
            guard entry.value.values.contains(where: { $0.image != nil }) else { return }
            // A segment of a valid path is a valid ID.
            if let id = try? CollectionID(entry.key.segments[segments.count].string) { collections.insert(id) }
        }
    }

    /// Returns the file path of any existing unapplied document below a document, or in or below a collection.
    ///
    /// - Parameter excluded: The paths of files to ignore.
    func anyDocument(below segments: [UTF8Key], excluding excluded: Set<UTF8Key>, in files: DocumentFiles) -> UTF8Key? {
        firstFile(below: segments, in: files) { image, file in image != nil && !excluded.contains(file) }
    }

    /// Returns the paths of the files of deleted unapplied documents below a document, or in or below a collection.
    func deletedFiles(below segments: [UTF8Key], in files: DocumentFiles) -> Set<UTF8Key> {
        var deleted: Set<UTF8Key> = []
        _ = firstFile(below: segments, in: files) { image, file in
            if image == nil { deleted.insert(file) }
            return false
        }
        return deleted
    }

    private func firstFile(
        below segments: [UTF8Key],
        in files: DocumentFiles,
        where predicate: (EncodedDocument?, UTF8Key) -> Bool
    ) -> UTF8Key? {
        guard let state = snapshot else { return nil }
        for (collection, entries) in state.collections(below: segments) {
            for (id, entry) in entries {
                let file = UTF8Key(files.filePath(of: collection.document(id)))
                if predicate(entry.image, file) { return file }
            }
        }
        return nil
    }

    /// Records that a document could not be applied, and why.
    func insert(_ image: EncodedDocument?, at path: DocumentPath, because error: StatusError) {
        change { state in
            state.failure = error
            state[path] = Entry(image: image, reason: .failed)
        }
    }

    /// Quarantines a document whose file cannot be written.
    func quarantine(_ path: DocumentPath, _ committed: CommittedState) {
        change { state in state[path] = Entry(image: committed.document, reason: .quarantined(committed)) }
    }

    /// Records that the file of a document keeps the text of an edit.
    ///
    /// - Returns: `false` if too many files keep theirs.
    func keep(_ text: KeptText, of document: EncodedDocument) -> Bool {
        state.withLock { state in
            let byteCount = state.keptTexts.bytes + document.fieldsJSON.count
            guard state.keptTexts.count < Self.maximumKeptTexts.count, byteCount <= Self.maximumKeptTexts.bytes else {
                return false
            }
            state[document.path] = Entry(image: document, reason: .keptText(text))
            hasImages.store(true, ordering: .releasing)
            return true
        }
    }

    /// The documents whose files keep the texts of edits.
    var keptTexts: [(document: EncodedDocument, text: KeptText)] {
        state.withLock { state in
            guard state.keptTexts.count > 0 else { return [] }
            return state.compactMap { (_, entry) -> (document: EncodedDocument, text: KeptText)? in
                guard case .keptText(let text) = entry.reason else { return nil }
                return entry.image.map { ($0, text) }
            }
        }
    }

    /// Returns a document whose file keeps the text of an edit; `nil` for any other one.
    func keptText(of path: DocumentPath) -> (document: EncodedDocument, text: KeptText)? {
        guard hasDocuments else { return nil }
        return state.withLock { state in
            guard let entry = state[path], case .keptText(let text) = entry.reason, let document = entry.image else { return nil }
            return (document, text)
        }
    }

    /// Records that the document has been applied.
    func remove(_ path: DocumentPath) {
        guard hasDocuments else { return }
        change { $0[path] = nil }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            hasImages.store(!state.collections.isEmpty, ordering: .releasing)
        }
    }
}

// MARK: - Installation of large commits

extension UnappliedDocuments {
    /// Adds the documents of a large commit, before their files are written.
    ///
    /// - Parameter first: The first commit of the batch.
    func beginInstalling(_ changes: [NetDocumentChange], first: SequenceNumber) {
        change { state in
            state.firstInstalling = first
            for change in changes { state[change.path] = Entry(image: change.document, reason: .installing) }
        }
    }

    /// Returns whether a document is still to be installed. It is not when a later commit has written it.
    func isInstalling(_ path: DocumentPath) -> Bool {
        state.withLock { state in if case .installing? = state[path]?.reason { true } else { false } }
    }

    /// Records that all documents of the large commit are in their files, or could not be applied.
    func endInstalling() {
        state.withLock { $0.firstInstalling = nil }
    }

    /// The last commit before those that are being installed; `nil` if there are none.
    var lastInstalled: SequenceNumber? {
        state.withLock { $0.firstInstalling?.previous }
    }
}
