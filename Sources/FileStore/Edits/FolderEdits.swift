internal import Dispatch
internal import DocumentModel
internal import DocumentStore
internal import Glibc
internal import Logging
internal import StorageIO
internal import Synchronization
internal import UTF8Text

/// The edits of document files by other programs, which become commits.
///
/// The folders of all documents are watched (``FolderEventQueue``). A file that has changed, and then was left alone for
/// ``FileStoreConfiguration/folderEditQuietTime``, is compared with the last committed version of its document. If it differs, it
/// becomes a commit like any other: validated, in the journal and the index, and told to watchers. Its author is the file's owner.
/// Then the store writes the file in its own form, with the times of the commit.
///
/// The store's own files are told from edits by their identities, which the cache has, or else by the journal.
///
/// Folders that cannot be watched, in network file systems or beyond the system's limits, are scanned again and again, for a small part
/// of the time.
///
/// - A file that is only half written is left alone for ``incompleteTime``.
/// - A file that is not a document, or is refused, gets another name (``RejectedEdit``), and the committed version takes its place.
/// - A file that was written on the basis of an earlier version than the committed one is merged with it (``FieldMerge``), or else
///   rejected.
/// - Of too many removed files at once, none becomes a deletion: a disk that is not mounted must not empty the database.
/// - A commit that writes a document waits until an edit of its file has been taken.
///
/// On a standby, all edits are rejected.
final class FolderEdits: Sendable {
    /// The options.
    struct Options: Sendable {
        /// The edits that need a person.
        let problems: EditProblems
        /// The time for which a file must be left alone.
        let quietTime: Duration
        /// The number of files removed at once up to which these are deletions.
        let maximumDeletions: Int
        /// The time from which edits are looked for, in microseconds since 1970: that of the last record of the store's state, or the
        /// opening of the store if the files are not those of that record.
        let startTime: Int64
    }

    struct State {
        var locations: [FolderEventQueue.Watch: DocumentLocation] = [:]
        /// The files that may have been edited, with the times of their last changes.
        var pending: [DocumentPath: ContinuousClock.Instant] = [:]
        /// The folders that have appeared, or whose changes were lost.
        var unscanned: Set<DocumentLocation> = []
        /// True if all folders are watched, as far as they have been scanned.
        var isWatched = true
        /// The time after which the last scan of all folders began, in microseconds since 1970.
        var lastScan: Int64?
        /// True once all folders have been scanned, and as long as no change was lost.
        var isComplete = false
        /// The folders that have disappeared.
        var removed: Set<DocumentLocation> = []
        /// The files that are half written, with the times at which they were first seen so.
        var incomplete: [DocumentPath: (identity: FileIdentity, since: ContinuousClock.Instant)] = [:]
        /// The folders that are being scanned.
        var scanning: Set<DocumentLocation> = []
        /// True if the next scan of all folders takes all files that are missing for deletions.
        var acceptsRemovedFiles = false
        /// The documents whose files are missing, and which a person has accepted to be deleted.
        var acceptedRemovals: Set<DocumentPath> = []
        /// The numbers of files that were removed in the last seconds.
        var removals: [(time: ContinuousClock.Instant, count: Int)] = []
        /// True while edits are being taken, by one task at a time.
        var isTaking = false
        /// The documents of these edits.
        var taking: Set<DocumentPath> = []
        /// The tasks that wait to take others, in order.
        var waiters: [CheckedContinuation<Void, Never>] = []
        /// The time of the next work; `nil` if none is scheduled.
        var nextWork: ContinuousClock.Instant?
        var isWorking = false
        var isStopped = false

        /// The delay of the next work; `nil` if there is none to do.
        func delay(at now: ContinuousClock.Instant, after quietTime: Duration) -> Duration? {
            if !unscanned.isEmpty || !removed.isEmpty { return .zero }
            var changed: (oldest: ContinuousClock.Instant, newest: ContinuousClock.Instant)?
            var retry: ContinuousClock.Instant?
            for time in pending.values {
                if time > now {
                    retry = min(retry ?? time, time)
                } else {
                    changed = changed.map { (min($0.oldest, time), max($0.newest, time)) } ?? (time, time)
                }
            }
            // As `due(at:after:)` has it.
            let times = [changed.map { min($0.newest + quietTime, $0.oldest + quietTime * 5) }, retry.map { $0 + quietTime }]
            return times.compactMap(\.self).min().map { max(.milliseconds(1), $0 - now) }
        }
    }

    let state = Mutex(State())
    private let events = Mutex<FolderEventQueue?>(nil)
    let components: StoreComponents
    let reader: EditReader
    let scanQueue: WorkQueue
    let commitQueue: CommitQueue
    let options: Options
    private let queue = DispatchQueue(label: "hearth.edits", qos: .utility)
    private let completion = DispatchGroup()

    /// The time after which an edit that could not be taken is tried again.
    static let retryTime = Duration.seconds(5)
    /// The time after which the folders are scanned again while removed files are not taken for deletions.
    static let removalScanTime = Duration.seconds(60)
    /// The least time between two scans without watches, and its ratio to the duration of a scan.
    private static let scanInterval = Duration.seconds(2)
    private static let scanPause = 20

    init(_ components: StoreComponents, _ reader: DocumentReader, _ commitQueue: CommitQueue, _ options: Options) {
        self.components = components
        self.reader = EditReader(components, reader)
        scanQueue = reader.scanQueue
        self.commitQueue = commitQueue
        self.options = options
    }

    /// True while edits are noticed by events, false if folders are scanned again and again.
    var isWatching: Bool { state.withLock(\.isWatched) }

    /// Begins to watch, and looks for the edits since the store was closed.
    func start() {
        do throws(FileSystemError) {
            let queue = try FolderEventQueue(on: queue) { [weak self] in self?.readEvents() }
            events.withLock { $0 = queue }
        } catch {
            reportRefusal(error)
        }
        state.withLock { state in _ = state.unscanned.insert(.root) }
        schedule()
    }

    /// Takes the edits that have been noticed, ends the watch, and returns when no edit is being taken.
    func stop() async {
        state.withLock { $0.isStopped = true }
        await withCheckedContinuation { continuation in completion.notify(queue: queue) { continuation.resume() } }
        readEvents()
        let now = ContinuousClock.now
        let rest = state.withLock { state in state.pending.filter { $0.value <= now }.map(\.key) }
        if !rest.isEmpty { await take(rest) }
        events.withLock(\.self)?.stop()
    }

    /// Takes the edits that a commit has found, also those of which the kernel does not tell.
    ///
    /// - Parameter error: The error of the commit.
    /// - Returns: `false` if the commit has another error.
    func take(after error: StatusError, of writes: [Write]) async -> Bool {
        guard error.versionBeforeEdit != nil || error.code == .dataLoss else { return false }
        var paths = Set(writes.map(\.path))
        // It may only have been read.
        if let path = error.versionBeforeEdit?.path { paths.insert(path) }
        await take(Array(paths))
        return !options.problems.hasDamaged(paths)
    }

    /// Takes the edits of documents that are about to be written, without waiting until they were left alone.
    ///
    /// - Returns: `false` if there were none.
    @discardableResult
    func take(before writes: [Write]) async -> Bool {
        readEvents()
        // Folders that have just appeared are not watched yet.
        let unscanned = state.withLock { state in
            let unscanned = state.unscanned.filter { location in
                location != .root && writes.contains { location.contains(.collection($0.path.collection)) }
            }
            state.unscanned.subtract(unscanned)
            return unscanned
        }
        for location in unscanned { await scan(location) }
        let (isTaking, candidates) = state.withLock { state in
            guard !state.pending.isEmpty || !state.taking.isEmpty || !state.scanning.isEmpty || !state.isComplete else {
                return (false, Set<DocumentPath>())
            }
            let paths = Set(writes.lazy.map(\.path))
            let isTaking = !state.taking.isDisjoint(with: paths)
            guard state.isComplete else { return (isTaking, paths) }
            let candidates = paths.filter { path in
                state.pending[path] != nil || state.scanning.contains { $0.contains(.collection(path.collection)) }
            }
            return (isTaking, candidates)
        }
        // Until its folder has been scanned, each file may be an edit.
        let edited = candidates.filter { path in
            !reader.isCommitted(path) && (reader.hasFile(path) || state.withLock { $0.pending[path] != nil })
        }
        guard isTaking || !edited.isEmpty else { return false }
        // Also waits for the edits that are being taken.
        await take(Array(edited))
        return true
    }
}

// MARK: Noticing

extension FolderEdits {
    /// Records the changes that the kernel has queued.
    private func readEvents() {
        guard let events = events.withLock(\.self) else { return }
        var isPending = false
        events.withEvents { changes in
            let now = ContinuousClock.now
            state.withLock { state in
                if changes.isOverflow {
                    state.unscanned.insert(.root)
                    state.isComplete = false
                }
                for event in changes.events { record(event, at: now, in: &state) }
                isPending = !state.pending.isEmpty || !state.unscanned.isEmpty || !state.removed.isEmpty
            }
        }
        if isPending { schedule() }
    }

    private func record(_ event: FolderEventQueue.Event, at now: ContinuousClock.Instant, in state: inout State) {
        guard let location = state.locations[event.watch] else { return }
        if event.kind == .ended {
            state.locations[event.watch] = nil
            return
        }
        let kind: FileStatus.Kind = event.isFolder ? .folder : .file
        let naming = components.files.folders.naming
        let entry = event.name.withUnsafeBufferPointer { FolderEntry($0, kind, at: location.level, naming: naming) }
        switch (entry, location) {
        case (.document(let id?), .collection(let collection)):
            state.pending[collection.document(id)] = now
        case (.folder(nil), _):
            // The ID is in the folder.
            state.unscanned.insert(location)
        case (.folder(let id?), _):
            guard let inner = location.location(ofFolder: id) else { return }
            switch event.kind {
            // With it, other files that were missing may have come back.
            case .present: state.unscanned.insert(options.problems.removedFileCount > 0 ? .root : inner)
            case .absent, .ended: state.removed.insert(inner)
            }
        case (.ignored, .collection(let collection)):
            guard !event.isFolder, let edit = RejectedEdit(String(decoding: event.name, as: UTF8.self), in: collection) else {
                return
            }
            if event.kind == .present { options.problems.insert(edit) } else { options.problems.remove(edit) }
        default:
            break
        }
    }

    private func reportRefusal(_ error: FileSystemError) {
        let isFirst = state.withLock { state in
            guard state.isWatched else { return false }
            // From now on, scans of all folders find the edits.
            state.isWatched = false
            state.isComplete = false
            state.unscanned.insert(.root)
            return true
        }
        guard isFirst else { return }
        let advice = error.isResourceLimit ? ". Raise fs.inotify.max_user_watches or fs.inotify.max_user_instances" : ""
        components.logger.warning(
            "The system does not permit to watch the folders of documents; edits of files are noticed after some seconds\(advice)",
            metadata: ["error": "\(error)"]
        )
    }

    /// Schedules the next work, unless it is scheduled or in progress.
    func schedule() {
        let now = ContinuousClock.now
        let next = state.withLock { state -> (delay: Duration, time: ContinuousClock.Instant)? in
            guard !state.isWorking, !state.isStopped else { return nil }
            // It will look at all changes: a look at them for each would be too much under load.
            if let scheduled = state.nextWork, scheduled <= now + options.quietTime, state.unscanned.isEmpty,
                state.removed.isEmpty
            {
                return nil
            }
            guard let delay = state.delay(at: now, after: options.quietTime) else { return nil }
            if let scheduled = state.nextWork, scheduled <= now + delay { return nil }
            state.nextWork = now + delay
            return (delay, now + delay)
        }
        guard let next else { return }
        queue.asyncAfter(deadline: .now() + next.delay / .seconds(1)) { [weak self] in
            guard let self else { return }
            let begins = state.withLock { state in
                // Another time has taken its place.
                guard state.nextWork == next.time, !state.isStopped else { return false }
                (state.nextWork, state.isWorking) = (nil, true)
                completion.enter()
                return true
            }
            guard begins else { return }
            Task {
                await self.work()
                self.state.withLock { $0.isWorking = false }
                self.schedule()
                self.completion.leave()
            }
        }
    }

    /// Scans folders that have changed, and takes the edits that were left alone.
    private func work() async {
        readEvents()
        let (unscanned, removed) = state.withLock { state in
            defer { (state.unscanned, state.removed) = ([], []) }
            return (state.unscanned, state.removed)
        }
        for location in removed { await remove(location) }
        for location in unscanned where !unscanned.contains(where: { $0 != location && $0.contains(location) }) {
            await scan(location)
        }
        let due = state.withLock { state in state.pending.due(at: .now, after: options.quietTime) }
        if !due.isEmpty { await take(due) }
    }

    private func scan(_ location: DocumentLocation) async {
        let events = events.withLock(\.self)
        // A folder that appears later may have been moved there, with all its times.
        let time = state.withLock { state in
            state.scanning.insert(location)
            return location == .root ? state.lastScan ?? options.startTime : .min
        }
        defer { state.withLock { state in _ = state.scanning.remove(location) } }
        let (start, begin) = (Timestamp.current(), ContinuousClock.now)
        do throws(StatusError) {
            let result = try await scanQueue.run(priority: .low) { [self] () throws(StatusError) in
                var scan = EditScan(components.files.folders, events, since: time) { watch, location in
                    self.state.withLock { $0.locations[watch] = location }
                }
                try scan.run(location)
                return scan.result
            }
            if let refusal = result.refusal { reportRefusal(refusal) }
            options.problems.replaceRejected(in: location, with: result.rejected)
            let unindexed = try await reader.unindexedChanges(in: location, result)
            if location == .root { try await judgeRemovedFiles(among: unindexed) }
            add(result.candidates + unindexed)
            let isWatched = state.withLock { state in
                if location == .root {
                    // The clock of the file system may be a little late.
                    state.lastScan = start.microseconds - 1_000_000
                    state.isComplete = state.isWatched
                }
                return state.isWatched
            }
            if !isWatched, location == .root { scanAgain(after: max(Self.scanInterval, (.now - begin) * Self.scanPause)) }
        } catch {
            components.logger.debug("Cannot look for edited files", metadata: ["error": "\(error)"])
            // While the index is being rebuilt, for example.
            scanAgain(after: max(Self.retryTime, (.now - begin) * Self.scanPause))
        }
    }

    /// Notes which missing files a person has accepted to be deletions, and whether all files that were missing have been put back.
    private func judgeRemovedFiles(among paths: [DocumentPath]) async throws(StatusError) {
        let accepts = state.withLock(\.acceptsRemovedFiles)
        guard accepts || options.problems.removedFileCount > 0 else { return }
        let missing = try await reader.removedFiles(among: paths)
        options.problems.removedFileCount = accepts ? 0 : missing.count
        state.withLock { state in
            if missing.isEmpty { state.removals = [] }
            if accepts { (state.acceptsRemovedFiles, state.acceptedRemovals) = (false, Set(missing)) }
        }
    }

    func scanAgain(after delay: Duration) {
        queue.asyncAfter(deadline: .now() + delay / .seconds(1)) { [weak self] in
            guard let self else { return }
            state.withLock { state in _ = state.unscanned.insert(.root) }
            schedule()
        }
    }

    /// Adds files that may have been edited.
    private func add(_ paths: [DocumentPath]) {
        let now = ContinuousClock.now
        state.withLock { state in
            for path in paths { state.pending[path] = max(state.pending[path] ?? now, now) }
        }
    }

    /// Adds the documents below a folder that has disappeared.
    private func remove(_ location: DocumentLocation) async {
        options.problems.replaceRejected(in: location, with: [])
        do throws(StatusError) {
            add(try await reader.indexedDocuments(in: location))
        } catch {
            components.logger.debug("Cannot look for removed files", metadata: ["error": "\(error)"])
            scanAgain(after: Self.retryTime)
        }
    }
}

extension [DocumentPath: ContinuousClock.Instant] {
    /// Returns the files that were left alone. Files that change together are returned together: all once none of them changes any
    /// more, or after some time those that do not.
    fileprivate func due(at now: ContinuousClock.Instant, after quietTime: Duration) -> [DocumentPath] {
        // Others are to be tried again later.
        let changed = filter { $0.value <= now }
        guard let oldest = changed.values.min(), let newest = changed.values.max() else { return [] }
        guard newest <= now - quietTime || oldest <= now - quietTime * 5 else { return [] }
        return changed.filter { $0.value <= now - quietTime }.map(\.key)
    }
}
