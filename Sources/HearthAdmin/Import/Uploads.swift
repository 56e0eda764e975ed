import DocumentModel
import HearthService
import StrictJSON
import Synchronization

/// Files that were sent to be imported, from when they have come until they are imported or forgotten.
///
/// The files themselves are on disk, without names: whatever is no longer here is gone there too, however the program ends.
final class Uploads: Sendable {
    /// A file, how it becomes documents, and what was found in it.
    struct Upload: Sendable {
        let id: UTF8Key
        let visitor: UTF8Key
        let database: DatabaseID
        let file: ImportFile
        let plan: ImportPlan
        var check: ImportCheck?
        /// The work that checks it, once there is one.
        var checkWork: UTF8Key?
    }

    /// What is found of an upload that is to be imported.
    enum Found: Sendable {
        /// It is taken: nobody else gets it.
        case taken(Upload)
        /// It is being imported by a work, or was.
        case begun(UTF8Key)
        case nothing
    }

    fileprivate struct Entry {
        var upload: Upload?
        let id: UTF8Key
        let visitor: UTF8Key
        let database: DatabaseID
        var work: UTF8Key?
        var lastUse: ContinuousClock.Instant
    }

    private let entries = Mutex<[Entry]>([])
    private let room: UploadRoom
    private let now: @Sendable () -> ContinuousClock.Instant

    private static let maximumCount = 100
    /// How many files of a visitor are kept.
    static let maximumVisitorCount = 10
    /// For how long a file is kept that nobody asks for.
    static let maximumIdle = Duration.seconds(60 * 60)

    /// - Parameter roomBytes: How many bytes all files may have together, also those on their way and being imported.
    init(
        roomBytes: Int = 2 * ImportFile.maximumBytes,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        room = UploadRoom(limit: roomBytes)
        self.now = now
    }

    /// The share of a file that begins to come.
    func makeShare() -> UploadRoom.Share {
        UploadRoom.Share(of: room)
    }

    /// Takes room for more of a file. Files make room that nobody has asked for in a while, then others of the same visitor, first those
    /// that were not used for the longest time; false when that is not enough.
    func take(_ byteCount: Int, for share: UploadRoom.Share, of visitor: UTF8Key) -> Bool {
        if share.take(byteCount) { return true }
        removeIdle()
        while !share.take(byteCount) {
            guard entries.withLock({ $0.removeLeastRecent { $0.visitor == visitor && $0.upload != nil } }) else { return false }
        }
        return true
    }

    /// Keeps a file; false when others have too many. Of the same visitor the one makes room that was not used for the longest time.
    func keep(_ upload: Upload) -> Bool {
        removeIdle()
        let entry = Entry(upload: upload, id: upload.id, visitor: upload.visitor, database: upload.database, lastUse: now())
        return entries.withLock { entries in
            if entries.count(where: { $0.visitor == upload.visitor }) >= Self.maximumVisitorCount {
                _ = entries.removeLeastRecent { $0.visitor == upload.visitor }
            }
            // One whose file was taken only leads to the work that has it.
            if entries.count >= Self.maximumCount { _ = entries.removeLeastRecent { $0.upload == nil } }
            guard entries.count < Self.maximumCount else { return false }
            entries.append(entry)
            return true
        }
    }

    /// A file that a visitor has sent to be imported into a database.
    func upload(_ id: UTF8Key, for visitor: UTF8Key, in database: DatabaseID) -> Upload? {
        change(id, for: visitor, in: database) { $0.upload } ?? nil
    }

    /// Notes which work checks a file, or what it has found.
    func note(_ upload: Upload) {
        _ = change(upload.id, for: upload.visitor, in: upload.database) { if $0.upload != nil { $0.upload = upload } }
    }

    /// Takes a file, once, for the work that imports it.
    func take(_ id: UTF8Key, for visitor: UTF8Key, in database: DatabaseID, work: UTF8Key) -> Found {
        change(id, for: visitor, in: database) { entry in
            if let begun = entry.work { return .begun(begun) }
            guard let upload = entry.upload else { return .nothing }
            (entry.upload, entry.work) = (nil, work)
            return .taken(upload)
        } ?? .nothing
    }

    /// Puts back a file whose work could not begin.
    func putBack(_ upload: Upload) {
        _ = change(upload.id, for: upload.visitor, in: upload.database) { ($0.upload, $0.work) = (upload, nil) }
    }

    /// Forgets files that nobody has asked for in a while.
    func removeIdle() {
        entries.withLock { [now = now()] entries in entries.removeAll { now - $0.lastUse >= Self.maximumIdle } }
    }

    /// Forgets all files.
    func removeAll() {
        entries.withLock { $0 = [] }
    }

    private func change<Result: Sendable>(
        _ id: UTF8Key,
        for visitor: UTF8Key,
        in database: DatabaseID,
        _ change: (inout Entry) -> Result
    ) -> Result? {
        entries.withLock { [now = now()] entries in
            let index = entries.firstIndex { $0.id == id && $0.visitor == visitor && $0.database == database }
            guard let index else { return nil }
            entries[index].lastUse = now
            return change(&entries[index])
        }
    }
}

extension [Uploads.Entry] {
    /// Removes the one of some that was not used for the longest time; false when there is none.
    fileprivate mutating func removeLeastRecent(where isOfThem: (Uploads.Entry) -> Bool) -> Bool {
        let index = indices.filter { isOfThem(self[$0]) }.min { self[$0].lastUse < self[$1].lastUse }
        guard let index else { return false }
        remove(at: index)
        return true
    }
}
