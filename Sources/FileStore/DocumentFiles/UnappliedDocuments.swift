internal import DocumentModel
internal import Synchronization
internal import UTF8Text

/// Documents of durable commits that could not be applied to their files. Normally empty.
///
/// A commit is durable once it is in the journal, so readers overlay these documents on the files. While there are any, the journal
/// is retained and the store rejects writes; see ``Committer``. If recovery finds files or folders without write permission, only
/// their documents are quarantined: they are stored in a separate file, and block only their own writes; see
/// ``QuarantinedDocuments``.
final class UnappliedDocuments: Sendable {
    private struct State {
        var images: [DocumentPath: EncodedDocument?] = [:]
        /// The commit times of the quarantined documents, which block only their own writes.
        var times: [DocumentPath: Timestamp] = [:]
        /// Why a document could not be applied.
        var failure: StatusError?

        /// The documents that block all writes.
        var blocking: [DocumentPath: EncodedDocument?] {
            images.isEmpty ? images : images.filter { times[$0.key] == nil }
        }
    }

    private let state = Mutex(State())
    /// True if there are any images, so that readers don't contend for the lock.
    private let hasImages = Atomic(false)

    /// True if all commits are applied.
    var isEmpty: Bool { state.withLock { $0.images.isEmpty } }

    /// The error for subsequent writes, or nil if no document blocks them.
    var writeBlockedError: StatusError? {
        let cause = state.withLock { $0.blocking.isEmpty ? nil : $0.failure }
        guard let cause else { return nil }
        return StatusError(
            cause.code == .resourceExhausted ? .resourceExhausted : .unavailable,
            "Writes are blocked because an earlier commit can't be applied to its document file: \(cause.message) "
                + "Writes resume automatically once the problem is fixed.",
            cause: cause
        )
    }

    /// All unapplied documents, as of their last commit; nil for deleted ones.
    var all: [DocumentPath: EncodedDocument?] { state.withLock { $0.images } }

    /// The documents that block all writes.
    var blocking: [DocumentPath: EncodedDocument?] { state.withLock { $0.blocking } }

    /// The quarantined documents, sorted.
    var quarantined: [QuarantinedDocument] {
        state.withLock { state in
            state.times.keys.sorted().compactMap { path in
                guard let image = state.images[path], let time = state.times[path] else { return nil }
                return QuarantinedDocument(path: path, image: image, time: time)
            }
        }
    }

    /// Returns the image and commit time of a quarantined document, or nil for any other document.
    func quarantinedImage(of path: DocumentPath) -> (image: EncodedDocument?, time: Timestamp)? {
        guard hasImages.load(ordering: .acquiring) else { return nil }
        return state.withLock { state in
            guard let image = state.images[path], let time = state.times[path] else { return nil }
            return (image, time)
        }
    }

    /// Returns the unapplied document at `path`: `.some(nil)` if it was deleted, nil if its file is current.
    func image(of path: DocumentPath) -> EncodedDocument?? {
        guard hasImages.load(ordering: .acquiring) else { return nil }
        return state.withLock { $0.images[path] }
    }

    /// The unapplied documents in and below a collection.
    struct CollectionOverlay {
        /// The collection's unapplied documents, as of their last commit.
        var images: [DocumentPath.ID: EncodedDocument?] = [:]
        /// The IDs of documents with existing unapplied descendants.
        var parents: Set<DocumentPath.ID> = []
    }

    /// Returns the overlay of a collection.
    func overlay(of collection: CollectionPath) -> CollectionOverlay {
        state.withLock { state in
            var overlay = CollectionOverlay()
            guard !state.images.isEmpty else { return overlay }
            let segments = collection.segments
            for (path, image) in state.images where path.segments.starts(with: segments) {
                if path.collection == collection {
                    overlay.images[path.id] = .some(image)
                } else if image != nil, let id = try? DocumentPath.ID(path.segments[segments.count].string) {
                    overlay.parents.insert(id)
                }
            }
            return overlay
        }
    }

    /// Returns the subcollections of a document, or the root collections, with existing unapplied documents in or below them.
    func collections(under parent: DocumentPath?) -> Set<CollectionID> {
        state.withLock { state in
            let segments = parent?.segments ?? []
            return state.images.reduce(into: []) { collections, entry in
                let path = entry.key.segments
                guard entry.value != nil, path.count > segments.count, path.starts(with: segments) else { return }
                // A segment of a valid path is a valid ID.
                if let id = try? CollectionID(path[segments.count].string) { collections.insert(id) }
            }
        }
    }

    /// Returns the file path of any existing unapplied document below a document, or in or below a collection.
    ///
    /// - Parameter excluded: The paths of files to ignore.
    func anyDocument(below segments: [UTF8Key], excluding excluded: Set<UTF8Key>, in files: DocumentFiles) -> UTF8Key? {
        state.withLock { state in
            state.images.lazy.filter {
                $0.value != nil && $0.key.segments.count > segments.count && $0.key.segments.starts(with: segments)
            }
            .map { UTF8Key(files.filePath(of: $0.key)) }.first { !excluded.contains($0) }
        }
    }

    /// Records that a document could not be applied, and why.
    func insert(_ image: EncodedDocument?, at path: DocumentPath, because error: StatusError) {
        change { state in
            state.failure = error
            state.images[path] = .some(image)
        }
    }

    /// Quarantines a document whose file can't be written.
    func quarantine(_ document: QuarantinedDocument) {
        change { state in
            state.times[document.path] = document.time
            state.images[document.path] = .some(document.image)
        }
    }

    /// Records that the document has been applied.
    func remove(_ path: DocumentPath) {
        change { state in
            state.times[path] = nil
            state.images.removeValue(forKey: path)
        }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            hasImages.store(!state.images.isEmpty, ordering: .releasing)
        }
    }
}
