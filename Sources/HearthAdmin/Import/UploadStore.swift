import DocumentModel
import HearthAPI
import StrictJSON
import Synchronization
import UTF8Text

/// The uploaded files that are waiting to be imported.
///
/// The files are unlinked when they are created, so their disk space is freed when they are removed here or the process ends.
final class UploadStore: Sendable {
    /// An uploaded file with its import options and preview.
    struct Upload: Sendable {
        let id: UTF8Key
        let owner: UTF8Key
        let database: DatabaseID
        let file: UploadedFile
        let options: ImportOptions
        /// The pasted documents of the form, for the next one.
        var pasted = ""
        var preview: ImportPreview?
        /// The job that creates the preview.
        var previewJobID: UTF8Key?
    }

    /// The result of claiming an upload for its import.
    enum Claim: Sendable {
        case claimed(Upload)
        /// The upload was claimed before, by the import job with this ID.
        case alreadyClaimed(jobID: UTF8Key)
        case notFound
    }

    fileprivate struct Entry {
        var upload: Upload?
        let id: UTF8Key
        let owner: UTF8Key
        let database: DatabaseID
        /// The import job that has claimed the upload.
        var jobID: UTF8Key?
        var lastUse: ContinuousClock.Instant
    }

    private let entries = Mutex<[Entry]>([])
    /// The folder in which uploaded files are created.
    let folder: String
    private let quota: UploadQuota
    private let now: @Sendable () -> ContinuousClock.Instant

    private static let maximumCount = 100
    static let maximumCountPerOwner = 10
    /// The time without use after which an upload expires.
    static let idleTimeout = Duration.seconds(60 * 60)

    /// - Parameters:
    ///   - folder: The folder in which uploaded files are created.
    ///   - quotaBytes: The maximum size of all files, including those being received and imported.
    init(
        folder: String,
        quotaBytes: Int = 2 * UploadedFile.maximumBytes,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.folder = folder
        quota = UploadQuota(limit: quotaBytes)
        self.now = now
    }

    /// Returns an empty reservation for a file that is about to be received.
    func makeReservation() -> UploadQuota.Reservation {
        UploadQuota.Reservation(in: quota)
    }

    /// Reserves space for more bytes of a file.
    ///
    /// When the quota is exceeded, expired uploads are evicted, then other uploads of the same owner, least recently used first.
    ///
    /// - Returns: `false` when there is not enough space.
    func reserve(_ byteCount: Int, in reservation: UploadQuota.Reservation, for owner: UTF8Key) -> Bool {
        if reservation.reserve(byteCount) { return true }
        removeExpired()
        while !reservation.reserve(byteCount) {
            guard entries.withLock({ $0.removeLeastRecent { $0.owner == owner && $0.upload != nil } }) else { return false }
        }
        return true
    }

    /// Adds an upload. An owner who has reached the limit loses the least recently used upload.
    ///
    /// - Returns: `false` when the limit for all owners is reached.
    func add(_ upload: Upload) -> Bool {
        removeExpired()
        let entry = Entry(upload: upload, id: upload.id, owner: upload.owner, database: upload.database, lastUse: now())
        return entries.withLock { entries in
            if entries.count(where: { $0.owner == upload.owner }) >= Self.maximumCountPerOwner {
                _ = entries.removeLeastRecent { $0.owner == upload.owner }
            }
            // An entry whose upload was claimed serves only to redirect to its job.
            if entries.count >= Self.maximumCount { _ = entries.removeLeastRecent { $0.upload == nil } }
            guard entries.count < Self.maximumCount else { return false }
            entries.append(entry)
            return true
        }
    }

    /// Returns an upload of the owner for a database.
    func upload(_ id: UTF8Key, for owner: UTF8Key, in database: DatabaseID) -> Upload? {
        withEntry(id, for: owner, in: database) { $0.upload } ?? nil
    }

    /// Replaces an upload that has not been claimed, after its preview was started or completed.
    func update(_ upload: Upload) {
        _ = withEntry(upload.id, for: upload.owner, in: upload.database) { if $0.upload != nil { $0.upload = upload } }
    }

    /// Removes an upload for the job that imports it. Only the first claim succeeds.
    func claim(_ id: UTF8Key, for owner: UTF8Key, in database: DatabaseID, jobID: UTF8Key) -> Claim {
        withEntry(id, for: owner, in: database) { entry in
            if let jobID = entry.jobID { return .alreadyClaimed(jobID: jobID) }
            guard let upload = entry.upload else { return .notFound }
            (entry.upload, entry.jobID) = (nil, jobID)
            return .claimed(upload)
        } ?? .notFound
    }

    /// Puts back a claimed upload whose job could not be started.
    func releaseClaim(_ upload: Upload) {
        _ = withEntry(upload.id, for: upload.owner, in: upload.database) { ($0.upload, $0.jobID) = (upload, nil) }
    }

    func removeExpired() {
        entries.withLock { [now = now()] entries in entries.removeAll { now - $0.lastUse >= Self.idleTimeout } }
    }

    func removeAll() {
        entries.withLock { $0 = [] }
    }

    /// Accesses an entry and marks it as used.
    private func withEntry<Result: Sendable>(
        _ id: UTF8Key,
        for owner: UTF8Key,
        in database: DatabaseID,
        _ body: (inout Entry) -> Result
    ) -> Result? {
        entries.withLock { [now = now()] entries in
            let index = entries.firstIndex { $0.id == id && $0.owner == owner && $0.database == database }
            guard let index else { return nil }
            entries[index].lastUse = now
            return body(&entries[index])
        }
    }
}

extension [UploadStore.Entry] {
    /// Removes the least recently used entry that satisfies a predicate; returns `false` when there is none.
    fileprivate mutating func removeLeastRecent(where isCandidate: (UploadStore.Entry) -> Bool) -> Bool {
        let index = indices.filter { isCandidate(self[$0]) }.min { self[$0].lastUse < self[$1].lastUse }
        guard let index else { return false }
        remove(at: index)
        return true
    }
}
