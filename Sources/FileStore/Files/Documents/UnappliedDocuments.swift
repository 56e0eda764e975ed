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
    private let images = Mutex<[DocumentPath: EncodedDocument?]>([:])
    /// True if there are any images, so that readers don't contend for the lock.
    private let hasImages = Atomic(false)
    /// The quarantined documents, which block only their own writes, with their commit times.
    private let times = Mutex<[DocumentPath: Timestamp]>([:])
    private let failure = Mutex<StatusError?>(nil)

    /// True if all commits are applied.
    var isEmpty: Bool { images.withLock { $0.isEmpty } }

    /// The error for further writes, or nil if no document blocks them.
    var writeBlockedError: StatusError? {
        guard !blocking.isEmpty, let cause = failure.withLock({ $0 }) else { return nil }
        return StatusError(
            cause.code == .resourceExhausted ? .resourceExhausted : .unavailable,
            "Writes are blocked because an earlier commit can't be applied to its file: \(cause.message) "
                + "Writes resume automatically once the problem is fixed.",
            cause: cause
        )
    }

    /// All unapplied documents, as of their last commit; nil for deleted ones.
    var all: [DocumentPath: EncodedDocument?] { images.withLock { $0 } }

    /// The documents that block all writes.
    var blocking: [DocumentPath: EncodedDocument?] {
        let all = all
        return all.isEmpty ? all : times.withLock { times in all.filter { times[$0.key] == nil } }
    }

    /// The quarantined documents, sorted.
    var quarantined: [QuarantinedDocument] {
        let times = times.withLock { $0 }
        return times.keys.sorted().compactMap { path in
            quarantinedImage(of: path).map { QuarantinedDocument(path: path, image: $0.image, time: $0.time) }
        }
    }

    /// Returns the image and commit time of a quarantined document, or nil for any other document.
    func quarantinedImage(of path: DocumentPath) -> (image: EncodedDocument?, time: Timestamp)? {
        guard let time = times.withLock({ $0[path] }), let image = image(of: path) else { return nil }
        return (image, time)
    }

    /// Returns the unapplied document at `path`: `.some(nil)` if it was deleted, nil if its file is current.
    func image(of path: DocumentPath) -> EncodedDocument?? {
        guard hasImages.load(ordering: .acquiring) else { return nil }
        return images.withLock { $0[path] }
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
        images.withLock { images in
            var overlay = CollectionOverlay()
            guard !images.isEmpty else { return overlay }
            let segments = collection.segments
            for (path, image) in images where path.segments.starts(with: segments) {
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
        images.withLock { images in
            let segments = parent?.segments ?? []
            return images.reduce(into: []) { collections, entry in
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
        images.withLock { images in
            images.lazy.filter {
                $0.value != nil && $0.key.segments.count > segments.count && $0.key.segments.starts(with: segments)
            }
            .map { UTF8Key(files.filePath(of: $0.key)) }.first { !excluded.contains($0) }
        }
    }

    /// Records that a document could not be applied, and why.
    func insert(_ image: EncodedDocument?, at path: DocumentPath, because error: StatusError) {
        failure.withLock { $0 = error }
        change { $0[path] = .some(image) }
    }

    /// Quarantines a document whose file can't be written.
    func quarantine(_ document: QuarantinedDocument) {
        times.withLock { $0[document.path] = document.time }
        change { $0[document.path] = .some(document.image) }
    }

    /// Records that the document has been applied.
    func remove(_ path: DocumentPath) {
        times.withLock { _ = $0.removeValue(forKey: path) }
        change { _ = $0.removeValue(forKey: path) }
    }

    private func change(_ body: (inout [DocumentPath: EncodedDocument?]) -> Void) {
        images.withLock { images in
            body(&images)
            hasImages.store(!images.isEmpty, ordering: .releasing)
        }
    }
}
