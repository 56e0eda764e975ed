internal import Glibc
internal import Synchronization

/// Watches folders for changes to their entries (`inotify`), so that a program that reads the same files repeatedly need not ask
/// the file system for the status of each.
///
/// The kernel queues an event before the system call that makes a change returns, and ``changes(in:starting:reporting:)`` reads
/// all queued events first. So a change that was complete before the call is never missed, with these exceptions, which become
/// visible after ``Limits/maximumAge``, when all entries of the folder count as changed:
///
/// - writes to a mapped file (`mmap`), and those by Linux's asynchronous I/O (`io_submit`);
/// - writes through another hard link, or through a file that was opened before it was linked into the folder;
/// - writes by clients of this system's NFS server, and through a file that is mounted over another one (`mount --bind`).
///
/// Only folders in local file systems are watched, because a network, overlay or FUSE file system does not report the changes of
/// others, and only those that do not ignore the case of names. Files without a name, and entries whose names begin with a dot or
/// are `#` and digits, are not reported. A folder is identified by its inode: callers resolve its path before each call, so that a
/// folder that was moved or replaced is noticed.
///
/// Watches are limited in number and memory. When the system's limits are reached or events were lost, callers have to ask the
/// file system, as for a folder that is not watched.
package final class FolderWatcher: Sendable {
    /// The limits of a watcher.
    package struct Limits: Sendable {
        /// The maximum number of watched folders.
        package var folders = 512
        /// The maximum number of changed entries that are known of a folder. When there are more, all count as changed.
        package var entries = 256
        /// The time after which all entries of a folder count as changed.
        package var maximumAge: Duration = .seconds(1)
        /// The time without a call after which a folder is no longer watched.
        package var maximumIdleTime: Duration = .seconds(2)
        /// The time between two attempts after the system has refused a watch.
        package var retryInterval: Duration = .seconds(30)

        package init() {}
    }

    /// A system call that the kernel may refuse.
    enum SystemCall {
        case openQueue
        case addWatch
    }

    private let limits: Limits
    private let willCall: @Sendable (SystemCall) throws(FileSystemError) -> Void
    private let state = Mutex(State())
    /// The time of the next call to ``removeIdleWatches()`` that has an effect; `.max` without watched folders.
    private let nextRemoval = Atomic(UInt64.max)

    /// Creates a watcher without watched folders.
    package convenience init(_ limits: Limits = Limits()) {
        self.init(limits) { _ throws(FileSystemError) in }
    }

    /// Creates a watcher for tests.
    ///
    /// - Parameter willCall: Called before each system call that the kernel may refuse. Its error is that of the call.
    init(_ limits: Limits, willCall: @escaping @Sendable (SystemCall) throws(FileSystemError) -> Void) {
        self.limits = limits
        self.willCall = willCall
    }

    /// The number of watched folders.
    package var folderCount: Int { state.withLock { $0.folders.count } }

    /// Returns the changes to an open folder's entries, which include all that were complete before the call; `nil` if the folder is
    /// not watched.
    ///
    /// A few microseconds; never waits for the disk.
    ///
    /// - Parameters:
    ///   - starting: True to start to watch a folder that is not watched, if possible.
    ///   - report: Called when the system refuses a watch for the first time.
    package func changes(
        in folder: borrowing FileDescriptor,
        starting: Bool,
        reporting report: (FileSystemError) -> Void
    ) -> FolderChanges? {
        guard starting || nextRemoval.load(ordering: .relaxed) != .max, let status = try? folder.status() else { return nil }
        let now = Self.now()
        var refusal: FileSystemError?
        let changes = state.withLock { state -> FolderChanges? in
            do throws(FileSystemError) {
                try state.readEvents(limits)
                if let watched = state.changes(in: status.fileID, at: now, limits) { return watched }
                guard starting, now >= state.retryTime, folder.reportsAllChanges else { return nil }
                if state.folders.count >= limits.folders { state.removeWatches(idleFor: limits.maximumIdleTime, at: now) }
                guard state.folders.count < limits.folders else { return nil }
                try state.watch(folder, status.fileID, at: now, limits, willCall)
                if nextRemoval.load(ordering: .relaxed) == .max {
                    nextRemoval.store(now + UInt64(nanoseconds: limits.maximumIdleTime), ordering: .relaxed)
                }
                return state.changes(in: status.fileID, at: now, limits)
            } catch {
                // Concerns this folder alone.
                if error.code == EACCES { return nil }
                state.retryTime = now + UInt64(nanoseconds: limits.retryInterval)
                if !state.wasRefused { refusal = error }
                state.wasRefused = true
                return nil
            }
        }
        if let refusal { report(refusal) }
        return changes
    }

    /// Stops to watch the folders that have not been asked for in some time. Returns at once if called too often.
    ///
    /// Programs that change files call it regularly, so that their own changes do not fill the queue of events while nobody reads.
    package func removeIdleWatches() {
        let due = nextRemoval.load(ordering: .relaxed)
        guard due != .max else { return }
        let now = Self.now()
        guard now >= due else { return }
        state.withLock { state in
            // An error is that of the next call for changes.
            try? state.readEvents(limits)
            state.removeWatches(idleFor: limits.maximumIdleTime, at: now)
            let next = state.folders.isEmpty ? .max : now + UInt64(nanoseconds: limits.maximumIdleTime)
            nextRemoval.store(next, ordering: .relaxed)
        }
    }

    /// The time in nanoseconds since the system was started, a few milliseconds late, at a tenth of the cost of an exact time.
    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

extension FolderWatcher {
    /// A watched folder.
    fileprivate struct Folder {
        let id: FileID
        /// The number of the watch, among all that the watcher has made.
        let number: UInt64
        /// The position from which all changes are known.
        var completeSince: UInt64
        /// The time after which all entries count as changed.
        var expiry: UInt64
        var lastUse: UInt64
        /// The position of the last change to each changed entry.
        var entries: [NameHash: UInt64] = [:]

        /// Counts all entries as changed.
        mutating func forgetEntries(at sequence: UInt64) {
            completeSince = sequence
            entries = [:]
        }
    }

    private struct State: ~Copyable {
        private var queue: FileDescriptor?
        /// The watched folders by the numbers that the kernel gave to their watches, which it does not use again.
        private(set) var folders: [Int32: Folder] = [:]
        private var watches: [FileID: Int32] = [:]
        /// The number of changes so far. Those that are read together count as one.
        private var sequence: UInt64 = 0
        private var lastNumber: UInt64 = 0
        /// The time of the next attempt after the system has refused a watch.
        var retryTime: UInt64 = 0
        /// True if the system has refused a watch before.
        var wasRefused = false

        /// Returns the changes in a watched folder; `nil` if it is not watched.
        mutating func changes(in id: FileID, at now: UInt64, _ limits: Limits) -> FolderChanges? {
            guard let watch = watches[id] else { return nil }
            return folders[watch]?.changes(at: now, &sequence, limits)
        }

        /// Watches a folder that is not watched.
        mutating func watch(
            _ folder: borrowing FileDescriptor,
            _ id: FileID,
            at now: UInt64,
            _ limits: Limits,
            _ willCall: (SystemCall) throws(FileSystemError) -> Void
        ) throws(FileSystemError) {
            if queue == nil {
                try willCall(.openQueue)
                queue = try FileDescriptor.makeEventQueue()
            }
            try willCall(.addWatch)
            guard let watch = try queue?.addWatch(of: folder, for: UInt32(IN_MODIFY | IN_ATTRIB)) else { return }
            sequence += 1
            lastNumber += 1
            watches[id] = watch
            folders[watch] = Folder(
                id: id,
                number: lastNumber,
                completeSince: sequence,
                expiry: now + UInt64(nanoseconds: limits.maximumAge),
                lastUse: now
            )
        }

        /// Stops to watch the folders that have not been asked for in some time.
        mutating func removeWatches(idleFor time: Duration, at now: UInt64) {
            for (watch, folder) in folders where folder.lastUse + UInt64(nanoseconds: time) <= now {
                forget(watch)
                // Fails if the folder was just removed.
                try? queue?.removeWatch(watch)
            }
        }

        /// Reads all queued events.
        mutating func readEvents(_ limits: Limits) throws(FileSystemError) {
            do throws(FileSystemError) {
                guard let events = try queue?.readEvents(), !events.isEmpty else { return }
                sequence += 1
                for event in events { record(event, limits) }
            } catch {
                removeQueue()
                throw error
            }
        }

        /// Ends all watches: any changes may have been lost.
        private mutating func removeQueue() {
            queue = nil
            folders = [:]
            watches = [:]
        }

        private mutating func record(_ event: FolderEvent, _ limits: Limits) {
            switch event {
            case .entryChanged(let watch, let name): folders[watch]?.record(name, at: sequence, limits)
            case .folderChanged(let watch): folders[watch]?.forgetEntries(at: sequence)
            case .ended(let watch): forget(watch)
            case .overflow: removeQueue()
            }
        }

        private mutating func forget(_ watch: Int32) {
            if let folder = folders.removeValue(forKey: watch) { watches[folder.id] = nil }
        }
    }
}

extension FolderWatcher.Folder {
    fileprivate mutating func changes(at now: UInt64, _ sequence: inout UInt64, _ limits: FolderWatcher.Limits) -> FolderChanges {
        lastUse = now
        if now >= expiry {
            sequence += 1
            forgetEntries(at: sequence)
            expiry = now + UInt64(nanoseconds: limits.maximumAge)
        }
        return FolderChanges(
            position: FolderChanges.Position(watch: number, sequence: sequence),
            completeSince: completeSince,
            entries: entries
        )
    }

    fileprivate mutating func record(_ name: NameHash, at sequence: UInt64, _ limits: FolderWatcher.Limits) {
        entries[name] = sequence
        if entries.count > limits.entries { forgetEntries(at: sequence) }
    }
}

extension UInt64 {
    fileprivate init(nanoseconds duration: Duration) {
        self = UInt64(Swift.max(0, duration / .nanoseconds(1)))
    }
}
