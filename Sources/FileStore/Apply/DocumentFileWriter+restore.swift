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
    /// - Parameter rewritesSame: True to write a file as well that is the same, as far as the file system shows.
    /// - Returns: `true` if the file was written or removed.
    mutating func restore(
        _ path: DocumentPath,
        to image: EncodedDocument?,
        committedAt time: Timestamp,
        rewritingSame rewritesSame: Bool = true,
        logger: Logger
    ) throws(StatusError) -> Bool {
        if rewritesSame, let image, try rewrite(image) { return true }
        let state = try fileState(of: path, image, time, logger)
        if state == .newer || (state == .same && !rewritesSame) { return false }
        guard let image else {
            if state == .stale { try remove(path) }
            return state == .stale
        }
        do throws(StatusError) {
            try write(image)
            return true
        } catch {
            // A failure to rewrite the file is harmless if its contents on disk are correct.
            guard state == .same, error.preventsSingleFileAccess || error.code == .resourceExhausted,
                try files.documentOnDisk(at: path) == image
            else { throw error }
            return false
        }
    }

    /// Writes the bytes of a document's file over themselves, so that the next sync writes them to the disk.
    ///
    /// This leaves every reader with the same complete file, and costs far less than a new file: no inode, no folder entry and, on
    /// ext4, no allocation at the rename.
    ///
    /// - Returns: `false` if the file has other bytes, such as another layout, or cannot be written.
    private mutating func rewrite(_ image: EncodedDocument) throws(StatusError) -> Bool {
        guard let folder = try existingFolder(of: image.path.collection) else { return false }
        let name = files.folders.naming.file(of: image.path.id)
        let bytes = DocumentFile.encode(image, storesID: name.isShortened)
        do throws(FileSystemError) {
            let file = try folder.descriptor.openFile(name.text, for: .updating)
            let status = try file.status()
            guard status.kind == .file, status.size == bytes.count, try file.read(bytes.count) == bytes,
                // Another program may have saved the file in place since it was read.
                try file.status().identity == status.identity
            else { return false }
            try file.write(bytes)
            try file.setModificationTimeIfPermitted(microseconds: image.updateTime.microseconds)
            cache.insert(image, identity: try file.status().identity)
            return true
        } catch {
            return false
        }
    }

    /// Reads a document with the update time that its file states, which tells the commit that wrote it.
    private mutating func storedDocument(at path: DocumentPath) throws(StatusError) -> EncodedDocument? {
        guard let folder = try existingFolder(of: path.collection) else { return nil }
        let name = files.folders.naming.file(of: path.id).text
        return try files.decode(name, id: path.id, in: path.collection, folder.descriptor).map { EncodedDocument($0.document) }
    }

    /// Returns whether a document's file has fields, but not the times that the store writes.
    private mutating func isEdited(_ path: DocumentPath) -> Bool {
        guard let folder = try? existingFolder(of: path.collection) else { return false }
        let name = files.folders.naming.file(of: path.id).text
        return (try? files.edited(name, id: path.id, in: path.collection, folder.descriptor)) != nil
    }

    private mutating func fileState(
        of path: DocumentPath,
        _ image: EncodedDocument?,
        _ time: Timestamp,
        _ logger: Logger
    ) throws(StatusError) -> FileState {
        do throws(StatusError) {
            guard let found = try storedDocument(at: path) else { return image == nil ? .same : .stale }
            guard let image else { return found.updateTime <= time ? .stale : .newer }
            if found.updateTime == image.updateTime { return found == image ? .same : .newer }
            return found.updateTime < image.updateTime ? .stale : .newer
        } catch {
            guard error.code == .dataLoss else { throw error }
            // A power cut leaves files without contents that were replaced shortly before.
            if let bytes = try? files.bytes(of: path), bytes.isEmpty { return .stale }
            // Only another program writes a document without its times.
            if isEdited(path) { return .newer }
            logger.warning(
                "Replacing a damaged file with the document in the journal",
                metadata: ["file.path": "\(error.file?.path ?? "")", "error": "\(error)"]
            )
            return .stale
        }
    }
}
