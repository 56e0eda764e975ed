internal import DocumentModel
internal import Journal
internal import QueryEngine
internal import StorageIO

/// A reader of documents as of a point in time, for one query on one thread.
///
/// It reads the current file first and consults the history afterward: a commit is in the history before its files are visible.
final class PointInTimeDocumentReader: QueryDocuments {
    let time: Timestamp
    /// The number of documents read.
    private(set) var readCount = 0
    /// The errors of documents that cannot be read.
    private(set) var damaged: [StatusError] = []

    private let components: StoreComponents
    private var view: PointInTimeView?
    /// The first changes to the documents that ``changedPaths(in:)`` last returned, with the view that they came from.
    private var changes: (view: PointInTimeView, first: [DocumentPath: PointInTimeView.FirstChange])?
    /// False if the files of commits before the time may still be written during the query.
    private let asksForChanges: Bool
    /// The folder of the last collection, kept open.
    private var folder: (collection: CollectionPath, CollectionFolder)?

    init(_ components: StoreComponents, at time: Timestamp) {
        self.components = components
        self.time = time
        asksForChanges = !components.unapplied.hasDocuments
    }

    /// Reads the document at `path`; `nil` if it did not exist or cannot be read.
    func document(at path: DocumentPath) throws(StatusError) -> EncodedDocument? {
        readCount += 1
        let current: EncodedDocument?
        do throws(StatusError) {
            current = try currentDocument(path)
        } catch {
            guard error.affectsSingleFile else { throw error }
            components.unreadable.insert(path)
            if let image = try beforeImage(path) { return image }
            damaged.append(error.withLocation(filePath: components.files.filePath(of: path), path: path.string))
            return nil
        }
        if let current, current.updateTime <= time { return current }
        // Changed or deleted by a later commit, or edited by hand, which takes effect immediately.
        if let image = try beforeImage(path) { return image }
        return current
    }

    /// Returns the documents that are known to be unreadable.
    func unreadablePaths(in source: StructuredQuery.Source) -> [DocumentPath] {
        components.unreadable.paths(in: source)
    }

    /// Returns the paths of the documents that were changed after the time, in the order of their records in the journal.
    ///
    /// - Throws: ``StatusError/historyNotLoaded(after:)``; `.resourceExhausted` when there are too many.
    func changedPaths(in source: StructuredQuery.Source) throws(StatusError) -> [DocumentPath] {
        let view = try refreshView()
        let first = try view.firstChanges(in: source)
        changes = (view, first)
        return first.sorted { ($0.value.segment, $0.value.record) < ($1.value.segment, $1.value.record) }.map(\.key)
    }

    func images(ofChanged paths: ArraySlice<DocumentPath>) throws(StatusError) -> [EncodedDocument] {
        guard let changes else { return [] }
        var selected: [DocumentPath: PointInTimeView.FirstChange] = [:]
        for path in paths { selected[path] = changes.first[path] }
        return try changes.view.images(before: selected).values.compactMap(\.self)
    }

    /// Updates the view of the commits after the time.
    ///
    /// - Throws: ``StatusError/historyNotLoaded(after:)``
    private func refreshView() throws(StatusError) -> PointInTimeView {
        guard let view = components.history.cachedView(after: time) else { throw .historyNotLoaded(after: time) }
        self.view = view
        return view
    }

    private func beforeImage(_ path: DocumentPath) throws(StatusError) -> EncodedDocument?? {
        if let image = try view?.image(of: path) { return image }
        return try refreshView().image(of: path)
    }

    private func currentDocument(_ path: DocumentPath) throws(StatusError) -> EncodedDocument? {
        if let image = components.unapplied.image(of: path) { return image }
        if let (collection, folder) = folder, collection == path.collection {
            return try components.files.document(at: path, in: folder)
        }
        guard let opened = try components.files.openFolder(of: path.collection, asksForChanges: asksForChanges) else {
            return nil
        }
        folder = (path.collection, opened)
        return try components.files.document(at: path, in: opened)
    }
}

/// The cause of an error when the index of a journal segment must be loaded before a query can run.
struct HistoryNotLoaded: Error {
    let time: Timestamp
}

extension StatusError {
    /// Returns the error for a query that needs a part of the history that is not loaded. The query is retried after loading.
    static func historyNotLoaded(after time: Timestamp) -> StatusError {
        StatusError(
            .resourceExhausted,
            "Too much has been written since the read time \(time) to read documents as of that time. Use a later read time.",
            cause: HistoryNotLoaded(time: time)
        )
    }
}
