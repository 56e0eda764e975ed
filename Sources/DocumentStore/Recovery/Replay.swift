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
    /// The documents whose files may not be written, and why.
    private(set) var unwritable: [(document: WaitingDocument, error: StatusError)] = []

    private var images: [DocumentPath: (image: EncodedDocument?, time: Timestamp)]

    /// Begins with documents that have waited since an earlier start.
    init(_ waiting: [WaitingDocument]) {
        images = Dictionary(waiting.map { ($0.path, ($0.image, $0.time)) }) { $1 }
    }

    /// Takes in the next commit of the journal.
    mutating func add(_ commit: Commit) {
        commits += 1
        for change in commit.changes { images[change.path] = (change.after, commit.time) }
    }

    /// Writes and removes the files.
    ///
    /// - Throws: What befalls more than one file. One that may not be written waits, in ``unwritable``.
    mutating func run(_ installer: inout DocumentInstaller, logger: Logger) throws(StatusError) {
        var emptied: Set<CollectionPath> = []
        for (path, (image, time)) in images {
            do throws(StatusError) {
                guard try installer.bring(path, to: image, committedAt: time, logger: logger) else { continue }
                if image == nil { emptied.insert(path.collection) }
                documents += 1
            } catch {
                guard error.forbidsOneFile else { throw error }
                unwritable.append((WaitingDocument(path: path, image: image, time: time), error))
            }
        }
        installer.removeEmptyFolders(of: emptied)
        installer.endBatch()
    }
}

extension DocumentInstaller {
    /// How a document's file compares with what the journal says last of it.
    private enum Standing {
        /// Newer, or edited by a person.
        case ahead
        /// The same, as far as can be seen.
        case equal
        case behind
    }

    /// Makes a document's file what the journal says last of the document, unless it is newer; returns whether it was written or
    /// removed.
    mutating func bring(
        _ path: DocumentPath,
        to image: EncodedDocument?,
        committedAt time: Timestamp,
        logger: Logger
    ) throws(StatusError) -> Bool {
        let standing = try standing(of: path, image, time, logger)
        if standing == .ahead { return false }
        guard let image else {
            if standing == .behind { try remove(path) }
            return standing == .behind
        }
        do throws(StatusError) {
            try install(stage(image))
            return true
        } catch {
            // One that can't be made anew is no reason not to go on, when it is right on the disk too.
            guard standing == .equal, error.forbidsOneFile || error.code == .resourceExhausted,
                try files.documentOnDisk(at: path) == image
            else { throw error }
            return false
        }
    }

    private mutating func standing(
        of path: DocumentPath,
        _ image: EncodedDocument?,
        _ time: Timestamp,
        _ logger: Logger
    ) throws(StatusError) -> Standing {
        do throws(StatusError) {
            guard let found = try document(at: path) else { return image == nil ? .equal : .behind }
            guard let image else { return found.updateTime <= time ? .behind : .ahead }
            if found.updateTime == image.updateTime { return found == image ? .equal : .ahead }
            return found.updateTime < image.updateTime ? .behind : .ahead
        } catch {
            guard error.code == .dataLoss else { throw error }
            logger.warning(
                "A damaged file is replaced by the document in the journal",
                metadata: ["file.path": "\(error.file?.path ?? "")", "error": "\(error)"]
            )
            return .behind
        }
    }
}
