internal import DocumentModel
internal import Logging
internal import StorageIO

extension DocumentFileWriter {
    /// The state of a document's file relative to the journal.
    private enum FileState {
        /// Newer than the journal, or edited.
        case newer
        /// The journal's last version, as far as the file system shows.
        case same
        /// Older than the journal, missing or damaged.
        case stale
    }

    /// Restores a document's file to the journal's last version, unless the file is newer.
    ///
    /// - Returns: True if the file was written or removed.
    mutating func restore(
        _ path: DocumentPath,
        to image: EncodedDocument?,
        committedAt time: Timestamp,
        logger: Logger
    ) throws(StatusError) -> Bool {
        let state = try fileState(of: path, image, time, logger)
        if state == .newer { return false }
        guard let image else {
            if state == .stale { try remove(path) }
            return state == .stale
        }
        do throws(StatusError) {
            try moveIntoPlace(stage(image))
            return true
        } catch {
            // A failure to rewrite the file is no obstacle when the disk has the right contents.
            guard state == .same, error.preventsSingleFileAccess || error.code == .resourceExhausted,
                try files.documentOnDisk(at: path) == image
            else { throw error }
            return false
        }
    }

    private mutating func fileState(
        of path: DocumentPath,
        _ image: EncodedDocument?,
        _ time: Timestamp,
        _ logger: Logger
    ) throws(StatusError) -> FileState {
        do throws(StatusError) {
            guard let found = try document(at: path) else { return image == nil ? .same : .stale }
            guard let image else { return found.updateTime <= time ? .stale : .newer }
            if found.updateTime == image.updateTime { return found == image ? .same : .newer }
            return found.updateTime < image.updateTime ? .stale : .newer
        } catch {
            guard error.code == .dataLoss else { throw error }
            logger.warning(
                "Replacing a damaged file with the document in the journal",
                metadata: ["file.path": "\(error.file?.path ?? "")", "error": "\(error)"]
            )
            return .stale
        }
    }
}
