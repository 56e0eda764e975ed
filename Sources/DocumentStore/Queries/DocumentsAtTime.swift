internal import DocumentModel

/// Reads documents as they were at a time, for one query on one thread.
///
/// Files are read first and the history is looked into afterwards: every commit is in the history before its documents can be
/// seen in the files.
final class DocumentsAtTime {
    let time: Timestamp
    /// How many documents have been read.
    private(set) var readCount = 0
    /// What can't be read, as errors.
    private(set) var damaged: [StatusError] = []

    private let parts: StoreParts
    private var view: HistoryView?
    /// The folder of the collection that was read last.
    private var folder: (collection: CollectionPath, descriptor: SharedDescriptor)?

    init(_ parts: StoreParts, at time: Timestamp) {
        self.parts = parts
        self.time = time
    }

    /// The document at `path`; nil when there was none, or it can't be read.
    func document(at path: DocumentPath) throws(StatusError) -> EncodedDocument? {
        readCount += 1
        let found: EncodedDocument?
        do throws(StatusError) {
            found = try current(path)
        } catch {
            guard error.concernsOneFile else { throw error }
            if let image = try past(path) { return image }
            damaged.append(error.concerning(parts.files.place(of: path), path: path.string))
            return nil
        }
        if let found, found.updateTime <= time { return found }
        // Changed or deleted since; or by people, which counts at once.
        if let image = try past(path) { return image }
        return found
    }

    /// What was committed after the time.
    ///
    /// - Throws: ``StatusError/historyNotAtHand(after:)``
    func newView() throws(StatusError) -> HistoryView {
        guard let view = parts.history.knownView(after: time) else { throw .historyNotAtHand(after: time) }
        self.view = view
        return view
    }

    private func past(_ path: DocumentPath) throws(StatusError) -> EncodedDocument?? {
        if let image = try view?.image(of: path) { return image }
        return try newView().image(of: path)
    }

    private func current(_ path: DocumentPath) throws(StatusError) -> EncodedDocument? {
        if let image = parts.uninstalled.image(of: path) { return image }
        if let folder, folder.collection == path.collection {
            return try parts.files.document(at: path, in: folder.descriptor.descriptor)
        }
        guard let opened = try parts.files.folders.open(path.collection.segments) else { return nil }
        let shared = SharedDescriptor(opened)
        folder = (path.collection, shared)
        return try parts.files.document(at: path, in: shared.descriptor)
    }
}

/// The commits that a query needs to know of have to be read from the journal first.
struct HistoryNotAtHand: Error {
    let time: Timestamp
}

extension StatusError {
    /// The error for a query that needs commits which have to be read from the journal first.
    static func historyNotAtHand(after time: Timestamp) -> StatusError {
        StatusError(
            .resourceExhausted,
            "So much was written since the read time \(time) that the query can't tell what was there. Give a later time.",
            cause: HistoryNotAtHand(time: time)
        )
    }
}
