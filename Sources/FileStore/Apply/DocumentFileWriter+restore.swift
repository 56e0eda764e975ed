internal import DocumentModel
internal import Logging
internal import StorageIO

/// The evidence by which a recovery tells an edit from the file of an earlier commit, which the last one has not replaced.
///
/// A file has its modification time from the program that wrote it, which may have kept an old one. The time of its last change is the
/// clock's. A change of the owner or the permissions sets it, too, and a power cut brings back files that later commits have replaced.
struct LateEditEvidence: Sendable {
    /// True if the machine has run since the last commits: the file system has lost no change, and all files of commits that were
    /// acknowledged are in place.
    let isSameBoot: Bool
    /// The present time. While the clock is behind the last commits, the times of edits say nothing.
    let now: Timestamp
}

/// The state of a document after its last commit, to which its file is to be brought.
struct CommittedState: Sendable {
    /// The document; `nil` if it was deleted.
    var document: EncodedDocument?
    /// The time of the commit.
    var time: Timestamp
    /// The versions that the commit, and replayed ones before it, have replaced, one of which the file may have.
    var replaced = ReplacedVersions()
    /// True if a change of the file's status after the commit does not show an edit.
    var ignoresChangeTime = false
}

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
        to commit: CommittedState,
        rewritingSame rewritesSame: Bool = true,
        logger: Logger
    ) throws(StatusError) -> Bool {
        if rewritesSame, let image = commit.document, try rewrite(image) { return true }
        let state = try fileState(of: path, commit, logger)
        if state == .newer || (state == .same && !rewritesSame) { return false }
        guard let image = commit.document else {
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

    /// Reads the encoded fields of a document's file, which may lack the times that the store writes; `nil` if it has none.
    private mutating func fieldsOfEdit(at path: DocumentPath) -> [UInt8]? {
        guard let folder = try? existingFolder(of: path.collection) else { return nil }
        let name = files.folders.naming.file(of: path.id).text
        guard let file = try? files.edited(name, id: path.id, in: path.collection, folder.descriptor) else { return nil }
        let fields = file.contents.fields
        return EncodedDocument(Document(path: path, fields: fields, createTime: .minimum, updateTime: .minimum)).fieldsJSON
    }

    /// The time in microseconds by which the kernel's clock for files may be late.
    private static let clockGranularity: Int64 = 10_000

    /// Returns whether a document's file was changed after a commit, as an edit on the basis of an earlier version is. The store's own
    /// files have the times of their commits.
    ///
    /// - Parameter statedTime: The update time that the file states.
    private mutating func wasEdited(
        _ path: DocumentPath,
        after commit: CommittedState,
        stating statedTime: Timestamp
    ) throws(StatusError) -> Bool {
        guard let lateEdits, let status = try status(of: path) else { return false }
        let modified = status.identity.modifiedMicroseconds
        if modified > commit.time.microseconds { return true }
        guard !commit.ignoresChangeTime else { return false }
        let isOwnForm = statedTime.microseconds == modified
        if isOwnForm, !lateEdits.isSameBoot || !commit.replaced.isComplete { return false }
        if status.changeMicroseconds > commit.time.microseconds { return true }
        guard !isOwnForm else { return false }
        return status.changeMicroseconds > commit.time.microseconds - Self.clockGranularity || commit.time > lateEdits.now
    }

    private mutating func fileState(
        of path: DocumentPath,
        _ commit: CommittedState,
        _ logger: Logger
    ) throws(StatusError) -> FileState {
        do throws(StatusError) {
            guard let found = try storedDocument(at: path) else { return commit.document == nil ? .same : .stale }
            if let image = commit.document {
                if found.updateTime == image.updateTime { return found == image ? .same : .newer }
                guard found.updateTime < image.updateTime else { return .newer }
                // The text of an edit that was committed may have kept an earlier time.
                if found.fieldsJSON == image.fieldsJSON { return .stale }
            } else if found.updateTime > commit.time {
                return .newer
            }
            if commit.replaced.contains(fieldsJSON: found.fieldsJSON) { return .stale }
            return try wasEdited(path, after: commit, stating: found.updateTime) ? .newer : .stale
        } catch {
            guard error.code == .dataLoss else { throw error }
            // A power cut leaves files without contents that were replaced shortly before.
            if let bytes = try? files.bytes(of: path), bytes.isEmpty { return .stale }
            // Only another program writes a document without its times. The file may keep the text of an edit that was committed.
            if let fieldsJSON = fieldsOfEdit(at: path) {
                let isCommitted = fieldsJSON == commit.document?.fieldsJSON || commit.replaced.contains(fieldsJSON: fieldsJSON)
                return isCommitted ? .stale : .newer
            }
            logger.warning(
                "Replacing a damaged file with the document in the journal",
                metadata: ["file.path": "\(error.file?.path ?? "")", "error": "\(error)"]
            )
            return .stale
        }
    }
}
