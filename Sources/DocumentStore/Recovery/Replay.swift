internal import DocumentModel
internal import Logging

/// Brings the document files to where the journal says they were.
///
/// The files are made anew even where they look right: the file system may show what it never brought to disk. Only what
/// a person has edited since, and what is newer than the journal, stays. Doing it twice makes no difference.
struct Replay {
    /// How many commits were replayed.
    private(set) var commits = 0
    /// How many documents' files were written or removed.
    private(set) var documents = 0

    private var images: [DocumentPath: EncodedDocument?] = [:]
    private var times: [DocumentPath: Timestamp] = [:]

    /// Takes in the next commit of the journal.
    mutating func add(_ commit: Commit) {
        commits += 1
        for change in commit.changes {
            images[change.path] = .some(change.after)
            times[change.path] = commit.time
        }
    }

    /// Writes and removes the files.
    mutating func run(_ installer: inout DocumentInstaller, logger: Logger) throws(StatusError) {
        var emptied: Set<CollectionPath> = []
        for (path, image) in images {
            guard try isDue(path, image, &installer, logger) else { continue }
            if let image {
                try installer.install(installer.stage(image))
            } else {
                try installer.remove(path)
                emptied.insert(path.collection)
            }
            documents += 1
        }
        installer.removeEmptyFolders(of: emptied)
        installer.endBatch()
    }

    private func isDue(
        _ path: DocumentPath,
        _ image: EncodedDocument?,
        _ installer: inout DocumentInstaller,
        _ logger: Logger
    ) throws(StatusError) -> Bool {
        do throws(StatusError) {
            guard let found = try installer.document(at: path) else { return image != nil }
            guard let image else { return times[path].map { found.updateTime <= $0 } ?? true }
            if found.updateTime == image.updateTime {
                if found != image { return false }
                // One that can't be changed, and needn't be, is no reason not to open.
                return try !installer.isUnchangeable(path)
            }
            return found.updateTime < image.updateTime
        } catch {
            guard error.code == .dataLoss else { throw error }
            logger.warning(
                "A damaged file is replaced by the document in the journal",
                metadata: ["file.path": "\(error.file?.path ?? "")", "error": "\(error)"]
            )
            return true
        }
    }
}
