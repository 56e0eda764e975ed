internal import DocumentModel
internal import StrictJSON
internal import Synchronization

/// Documents of durable commits whose files could not be changed: nearly always none.
///
/// The journal is the truth, so such a commit counts; readers find here what the files don't say yet. As long as there is
/// any, the journal is kept, and the store takes no more writes; see ``Committer``. Only where recovery finds files or folders that
/// may not be written, it is their own documents that can't be, and they are kept in a file of their own; see ``WaitingDocuments``.
final class UninstalledDocuments: Sendable {
    private let images = Mutex<[DocumentPath: EncodedDocument?]>([:])
    /// Whether there are any, for readers, who would all wait for one lock.
    private let hasImages = Atomic(false)
    /// Those of them that keep nobody but themselves from being written, with the times of their commits.
    private let times = Mutex<[DocumentPath: Timestamp]>([:])
    private let failure = Mutex<StatusError?>(nil)

    /// Whether all files are as the commits made them.
    var isEmpty: Bool { images.withLock { $0.isEmpty } }

    /// The error for further writes, or nil when all files are as the commits made them.
    var obstacle: StatusError? {
        guard !obstructing.isEmpty, let cause = failure.withLock({ $0 }) else { return nil }
        return StatusError(
            cause.code == .resourceExhausted ? .resourceExhausted : .unavailable,
            "Hearth takes no writes, because it can't change the file of an earlier one: \(cause.message) "
                + "It goes on by itself when that is mended.",
            cause: cause
        )
    }

    /// All documents concerned, each as the last commit made it; nil where it was deleted.
    var all: [DocumentPath: EncodedDocument?] { images.withLock { $0 } }

    /// The documents that keep all others from being written.
    var obstructing: [DocumentPath: EncodedDocument?] {
        let all = all
        return all.isEmpty ? all : times.withLock { times in all.filter { times[$0.key] == nil } }
    }

    /// The documents that only can't be written themselves, in order.
    var confined: [WaitingDocument] {
        let times = times.withLock { $0 }
        return times.keys.sorted().compactMap { path in
            confinedImage(of: path).map { WaitingDocument(path: path, image: $0.image, time: $0.time) }
        }
    }

    /// A document that only can't be written itself, as the last commit made it, and when; nil for any other.
    func confinedImage(of path: DocumentPath) -> (image: EncodedDocument?, time: Timestamp)? {
        guard let time = times.withLock({ $0[path] }), let image = image(of: path) else { return nil }
        return (image, time)
    }

    /// The document at `path`, nil when it was deleted, or nothing when its file is right.
    func image(of path: DocumentPath) -> EncodedDocument?? {
        guard hasImages.load(ordering: .acquiring) else { return nil }
        return images.withLock { $0[path] }
    }

    /// What of one collection is not as in the files.
    struct Part {
        /// Its own documents concerned, each as the last commit made it.
        var images: [DocumentID: EncodedDocument?] = [:]
        /// Its documents that have others concerned below them, which exist.
        var parents: Set<DocumentID> = []
    }

    /// What concerns a list of a collection.
    func part(of collection: CollectionPath) -> Part {
        images.withLock { images in
            var part = Part()
            guard !images.isEmpty else { return part }
            let segments = collection.segments
            for (path, image) in images where path.segments.starts(with: segments) {
                if path.collection == collection {
                    part.images[path.id] = .some(image)
                } else if image != nil, let id = try? DocumentID(path.segments[segments.count].string) {
                    part.parents.insert(id)
                }
            }
            return part
        }
    }

    /// The collections directly under a document, or at the top, that have such a document in or below them.
    func collections(under parent: DocumentPath?) -> Set<CollectionID> {
        images.withLock { images in
            let segments = parent?.segments ?? []
            return images.reduce(into: []) { collections, entry in
                let path = entry.key.segments
                guard entry.value != nil, path.count > segments.count, path.starts(with: segments) else { return }
                // The ID of a collection on the way to a document is one.
                if let id = try? CollectionID(path[segments.count].string) { collections.insert(id) }
            }
        }
    }

    /// The place of the file of some such document that exists below a document, or in or below a collection.
    ///
    /// - Parameter others: The places of files that don't count.
    func someDocument(below segments: [UTF8Key], otherThan others: Set<UTF8Key>, in files: DocumentFiles) -> UTF8Key? {
        images.withLock { images in
            images.lazy.filter {
                $0.value != nil && $0.key.segments.count > segments.count && $0.key.segments.starts(with: segments)
            }
            .map { UTF8Key(files.place(of: $0.key)) }.first { !others.contains($0) }
        }
    }

    /// Notes that a file could not be changed, and why.
    func insert(_ image: EncodedDocument?, at path: DocumentPath, because error: StatusError) {
        failure.withLock { $0 = error }
        change { $0[path] = .some(image) }
    }

    /// Notes that the file of a document may not be changed, which is no matter to the others.
    func confine(_ document: WaitingDocument) {
        times.withLock { $0[document.path] = document.time }
        change { $0[document.path] = .some(document.image) }
    }

    /// Notes that the file is right now.
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
