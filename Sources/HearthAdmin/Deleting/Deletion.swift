import DocumentModel
import DocumentStore
import HearthService

/// Deletes the documents that somebody has confirmed, as they were when that page was shown.
///
/// What was written after it stays, and so does all that is below: nobody has seen it and decided that it may go. A document that a
/// query finds now and that was changed last before then was found by it then, too, and each is deleted only as it was found. So
/// this needs nothing of the past, however long it takes.
struct Deletion: Sendable {
    let context: ServiceContext
    let work: Work
    /// The last commit that was there when the documents were shown.
    let shownTime: Timestamp

    /// A document, and when it was changed last.
    struct Version: Hashable, Sendable {
        let path: DocumentPath
        let updateTime: Timestamp
    }

    /// Deletes documents, each for itself.
    ///
    /// - Returns: Those that are gone now; nil when the work is to stop.
    /// - Throws: What keeps the server from deleting any document.
    func delete(_ versions: [Version]) async throws(StatusError) -> [DocumentPath]? {
        // The caller's key may have been revoked since the last ones.
        try context.authorize(.writer)
        guard !work.isStopping else { return nil }
        let (old, new) = (versions.filter { $0.updateTime <= shownTime }, versions.filter { $0.updateTime > shownTime })
        work.update { progress in for version in new { progress.kept.append(version.path) } }
        var gone: [DocumentPath] = []
        let outcomes = try await BatchWrite.call(
            old.map { .delete($0.path, precondition: .updateTime($0.updateTime)) },
            in: context
        )
        var obstacle: StatusError?
        for (version, outcome) in zip(old, outcomes) {
            switch outcome {
            case .success:
                work.update { $0.done += 1 }
                gone.append(version.path)
            case .failure(let error) where error.code == .failedPrecondition:
                if try await isGone(version.path) {
                    work.update { $0.goneCount += 1 }
                    gone.append(version.path)
                } else {
                    work.update { $0.kept.append(version.path) }
                }
            case .failure(let error):
                work.update { $0.faults.append(Work.Fault(place: version.path.string, message: error.message)) }
                if error.isOfServer { obstacle = obstacle ?? error }
            }
        }
        if let obstacle { throw obstacle }
        return work.isStopping ? nil : gone
    }

    /// Whether somebody else has deleted a document; not where its file is damaged by now.
    private func isGone(_ path: DocumentPath) async throws(StatusError) -> Bool {
        do throws(StatusError) {
            return try await context.store.document(at: path) == nil
        } catch {
            guard error.code == .dataLoss else { throw error }
            return false
        }
    }

    /// Deletes documents as they were found.
    func delete(_ documents: [EncodedDocument]) async throws(StatusError) -> [DocumentPath]? {
        try await delete(documents.map { Version(path: $0.path, updateTime: $0.updateTime) })
    }

    /// Notes files that stay because they can't be read.
    func keep(_ damaged: [StatusError]) {
        work.update { progress in for error in damaged { progress.faults.append(Work.Fault(error)) } }
    }

    /// Deletes a collection with all that is below.
    func delete(_ collection: CollectionPath) async throws(StatusError) {
        try await Subtree(context: context).visit(collection) { part throws(StatusError) in try await delete(part) }
    }

    /// Deletes all that is below some documents.
    func delete(below documents: [DocumentPath]) async throws(StatusError) {
        for path in documents {
            let isWhole = try await Subtree(context: context).visit(below: path) { part throws(StatusError) in
                try await delete(part)
            }
            guard isWhole else { return }
        }
    }

    private func delete(_ part: Subtree.Part) async throws(StatusError) -> [DocumentPath]? {
        keep(part.damaged)
        return try await delete(part.documents)
    }
}

extension Work.Fault {
    /// A file that can't be read.
    init(_ damage: StatusError) {
        self.init(place: damage.file?.path ?? damage.path ?? "", message: damage.message)
    }
}

extension StatusError {
    /// Whether it says something of the server, so that the next documents would fare alike.
    fileprivate var isOfServer: Bool {
        switch code {
        case .unavailable, .resourceExhausted, .cancelled, .deadlineExceeded, .unauthenticated: true
        default: false
        }
    }
}
