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
        /// Returns the decision about edits by a user of the system; `nil` to permit all.
        let authorization: FolderEditAuthorization?
        /// True if the files of edits keep their texts until the next commits of their documents.
        let keepsTexts: Bool
        /// The time from which edits are looked for, in microseconds since 1970: that of the last record of the store's state, or the
        /// opening of the store if the files are not those of that record.
        let startTime: Int64
        /// The time since which files may have been edited whose edits are not commits yet.
        let uncommitted: UncommittedEdits
    }

    /// A file that may have been edited.
    struct PendingFile {
        /// The time of its last change; a later one if it is to be tried again.
        let time: ContinuousClock.Instant
        /// The time since which it may have been edited, in microseconds since 1970.
        let since: Int64
    }

    struct State {
        var locations: [FolderEventQueue.Watch: DocumentLocation] = [:]
        /// The files that may have been edited.
        private(set) var pending: [DocumentPath: PendingFile] = [:]
        /// Those of them that were removed, as far as events tell.
        var absent: Set<DocumentPath> = []
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
        /// The entries that are not documents by their names, and may be foreign.
        var unclassified: Set<ForeignEntry> = []
        /// The files that are half written, with the times at which they were first seen so.
        var incomplete: [DocumentPath: (identity: FileIdentity, since: ContinuousClock.Instant)] = [:]
        /// The folders that are being scanned.
        var scanning: Set<DocumentLocation> = []
        /// True if the next scan of all folders takes all files that are missing for deletions.
        var acceptsRemovedFiles = false
        /// The documents whose files are missing, and which a person has accepted to be deleted.
        var acceptedRemovals: Set<DocumentPath> = []
        /// The time of the scheduled scan that counts the missing files; `nil` if there is none.
        var recountTime: ContinuousClock.Instant?
        /// The documents whose files were removed in the last seconds, with the times at which that was found.
        var removals: [DocumentPath: ContinuousClock.Instant] = [:]
        /// True while edits are being committed, by one task at a time.
        var isCommitting = false
        /// The documents of these edits.
        var committing: Set<DocumentPath> = []
        /// Those of them whose files were known to be removed before.
        var noticedRemovals: Set<DocumentPath> = []
        /// The time since which they may have been edited, in microseconds since 1970.
        var committingSince: Int64?
        /// The tasks that wait to take others, in order.
        var waiters: [CheckedContinuation<Void, Never>] = []
        /// The time of the next work; `nil` if none is scheduled.
        var nextWork: ContinuousClock.Instant?
        var isWorking = false
        var isStopped = false

        /// True if there is something to look at.
        var hasWork: Bool { !pending.isEmpty || !unscanned.isEmpty || !removed.isEmpty || !unclassified.isEmpty }

        /// Adds a file, or changes the time of its last change.
        ///
        /// - Parameter since: The time since which it may have been edited, if that is not known.
        mutating func insert(_ path: DocumentPath, at time: ContinuousClock.Instant, since: Int64) {
            pending[path] = PendingFile(time: time, since: pending[path]?.since ?? since)
        }

        /// Removes what is about to be looked at. All folders count as being scanned at once, although one is scanned after the other:
        /// commits and checkpoints must not take those whose turn is later for known.
        mutating func beginWork() -> (
            unscanned: Set<DocumentLocation>, removed: Set<DocumentLocation>, unclassified: Set<ForeignEntry>
        ) {
            defer { (unscanned, unclassified) = ([], []) }
            scanning.formUnion(unscanned)
            return (unscanned, takeRemoved(), unclassified)
        }

        /// Removes the folders that have disappeared, whose documents are about to be looked up.
        mutating func takeRemoved() -> Set<DocumentLocation> {
            defer { removed = [] }
            return removed
        }

        /// Removes files that are about to be taken.
        mutating func beginCommitting(_ paths: [DocumentPath]) {
            committing = Set(paths)
            noticedRemovals = committing.intersection(absent)
            committingSince = nil
            for path in paths {
                if let file = pending.removeValue(forKey: path) {
                    committingSince = min(committingSince ?? file.since, file.since)
                }
                absent.remove(path)
            }
        }

        /// Returns the time since which there may be edits that are not commits; `nil` if there are none.
        func uncommittedSince(start: Int64) -> Int64? {
            guard let lastScan else { return start }
            let scan = isWatched && unscanned.isEmpty && scanning.isEmpty ? nil : lastScan
            return [scan, committingSince, pending.values.lazy.map(\.since).min()].compactMap(\.self).min()
        }

        /// The delay of the next work; `nil` if there is none to do.
        func delay(at now: ContinuousClock.Instant, after quietTime: Duration) -> Duration? {
            if !unscanned.isEmpty || !removed.isEmpty || !unclassified.isEmpty { return .zero }
            return dueTimes(at: now, after: quietTime).next.map { max(.milliseconds(1), $0 - now) }
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
    /// The time within which removed files count as removed at once.
    static let removalPeriod = Duration.seconds(10)
    /// The time after which missing files are counted again once files have come back.
    private static let recountTime = Duration.seconds(2)

    /// The least time between two scans without watches, and its ratio to the duration of a scan.
    private static let scanInterval = Duration.seconds(2)
    private static let scanPause = 20

    init(_ components: StoreComponents, _ reader: DocumentReader, _ commitQueue: CommitQueue, _ options: Options) {
        self.components = components
        self.reader = EditReader(components, reader, commitQueue)
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
        options.uncommitted.follow { [weak self, startTime = options.startTime] in
            guard let self else { return startTime }
            return state.withLock { $0.uncommittedSince(start: startTime) }
        }
        schedule()
    }

    /// Takes the edits that have been noticed, also those that could not be taken before, ends the watch, and returns when no edit is being
    /// taken.
    func stop() async {
        state.withLock { $0.isStopped = true }
        await withCheckedContinuation { continuation in completion.notify(queue: queue) { continuation.resume() } }
        readEvents()
        let rest = state.withLock { Array($0.pending.keys) }
        // A removal that has not been noticed is one of a folder, perhaps: the next start tells.
        if !rest.isEmpty { await take(rest, afterQuietTime: true) }
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
            state.scanning.formUnion(unscanned)
            return unscanned
        }
        for location in unscanned { await scan(location) }
        let (isCommitting, candidates) = state.withLock { state in
            guard !state.pending.isEmpty || !state.committing.isEmpty || !state.scanning.isEmpty || !state.isComplete else {
                return (false, Set<DocumentPath>())
            }
            let paths = Set(writes.lazy.map(\.path))
            let isCommitting = !state.committing.isDisjoint(with: paths)
            guard state.isComplete else { return (isCommitting, paths) }
            let candidates = paths.filter { path in
                state.pending[path] != nil || state.scanning.contains { $0.contains(.collection(path.collection)) }
            }
            return (isCommitting, candidates)
        }
        // Until its folder has been scanned, each file may be an edit.
        let edited = candidates.filter { path in
            !reader.isCommitted(path) && (reader.hasFile(path) || state.withLock { $0.pending[path] != nil })
        }
        guard isCommitting || !edited.isEmpty else { return false }
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
                isPending = state.hasWork
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
            let path = collection.document(id)
            state.insert(path, at: now, since: Self.noticedSince())
            if event.kind == .absent {
                state.absent.insert(path)
            } else {
                state.absent.remove(path)
                // Others that were missing may come back, too.
                if options.problems.removedFileCount > 0 { scheduleRecount(after: Self.recountTime, in: &state) }
            }
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
        case (.ignored, _), (.foreign, _):
            guard event.name.first != UInt8(ascii: ".") else { return }
            if case .collection(let collection) = location, !event.isFolder,
                let edit = RejectedEdit(String(decoding: event.name, as: UTF8.self), in: collection)
            {
                if event.kind == .present { options.problems.insert(edit) } else { options.problems.remove(edit) }
                return
            }
            let other = ForeignEntry(location: location, name: event.name)
            // Only its status tells a symbolic link.
            if event.kind == .present { state.unclassified.insert(other) } else { options.problems.remove(other) }
        case (.document, _):
            break
        }
    }

    /// Returns the time since which a file was edited that has just been noticed.
    static func noticedSince() -> Int64 {
        Timestamp.current().microseconds - UncommittedEdits.margin
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
                state.removed.isEmpty, state.unclassified.isEmpty
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
        // All that is found now has changed together, however long the search takes: a folder with another name has been renamed.
        let time = ContinuousClock.now
        let (unscanned, removed, unclassified) = state.withLock { $0.beginWork() }
        for location in removed { await remove(location, noticedAt: time) }
        if !unclassified.isEmpty { await classify(unclassified) }
        for location in unscanned where !unscanned.contains(where: { $0 != location && $0.contains(location) }) {
            await scan(location, noticedAt: time)
        }
        // Those in others have been scanned with them.
        state.withLock { $0.scanning.subtract(unscanned) }
        // The files of folders that have disappeared meanwhile count together with theirs.
        readEvents()
        for location in state.withLock({ $0.takeRemoved() }) { await remove(location, noticedAt: .now) }
        let due = state.withLock { state in state.due(at: .now, after: options.quietTime) }
        if !due.isEmpty { await take(due, afterQuietTime: true) }
    }

    private func scan(_ location: DocumentLocation, noticedAt noticeTime: ContinuousClock.Instant = .now) async {
        let events = events.withLock(\.self)
        // A folder that appears later may have been moved there, with all its times.
        let time = state.withLock { state in
            state.scanning.insert(location)
            if location == .root { state.recountTime = nil }
            guard location == .root, let lastScan = state.lastScan else { return location == .root ? options.startTime : .min }
            // After the clock was set back, edits may have any time.
            return lastScan > Timestamp.current().microseconds ? 0 : lastScan
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
            options.problems.replace(in: location, withRejected: result.rejected, foreign: result.foreign)
            let unindexed = try await reader.unindexedChanges(in: location, result)
            let missing = try await reader.removedFiles(among: unindexed)
            if location == .root { await judge(missing) }
            state.withLock { $0.absent.formUnion(missing) }
            // Without events, nothing tells that a file has changed since.
            let foundTime = isWatching ? noticeTime : .now
            add(result.candidates + unindexed, noticedAt: foundTime, since: time > .min ? time : Self.noticedSince())
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

    /// Finds out which entries are neither documents nor folders of documents.
    private func classify(_ entries: Set<ForeignEntry>) async {
        let folders = components.files.folders
        do throws(StatusError) {
            let faults = try await scanQueue.run { () throws(StatusError) in
                try entries.map { entry throws(StatusError) in (entry: entry, fault: try folders.fault(of: entry)) }
            }
            for (entry, fault) in faults {
                if let fault { options.problems.insert(entry, fault, in: folders) } else { options.problems.remove(entry) }
            }
        } catch {
            components.logger.debug("Cannot look at new entries of folders", metadata: ["error": "\(error)"])
        }
    }

    /// Notes which missing files a person has accepted to be deletions, and whether all files that were missing have been put back.
    ///
    /// - Parameter missing: The documents whose files are missing.
    private func judge(_ missing: [DocumentPath]) async {
        let accepts = state.withLock(\.acceptsRemovedFiles)
        guard accepts || options.problems.removedFileCount > 0 else { return }
        await setRemovedFileCount(accepts ? 0 : missing.count)
        state.withLock { state in
            if accepts || missing.isEmpty { state.removals = [:] }
            if !accepts, !missing.isEmpty { scheduleRecount(after: Self.removalScanTime, in: &state) }
            if accepts { (state.acceptsRemovedFiles, state.acceptedRemovals) = (false, Set(missing)) }
        }
    }

    /// Schedules a scan of all folders, which counts the missing files, unless there is one before.
    func scheduleRecount(after delay: Duration, in state: inout State) {
        let time = ContinuousClock.now + delay
        if let scheduled = state.recountTime, scheduled <= time { return }
        state.recountTime = time
        scanAgain(after: delay)
    }

    /// Records how many removed files wait for a person, also for the next start.
    func setRemovedFileCount(_ count: Int) async {
        options.problems.removedFileCount = count
        let data = components.data
        do throws(StatusError) {
            try await scanQueue.run { () throws(StatusError) in
                guard data.manifest.removedFileCount != count else { return }
                try data.update { $0.removedFileCount = count }
            }
        } catch {
            components.logger.warning("Cannot record that files were removed", metadata: ["error": "\(error)"])
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
    private func add(_ paths: [DocumentPath], noticedAt time: ContinuousClock.Instant, since: Int64) {
        state.withLock { state in
            for path in paths { state.insert(path, at: state.pending[path]?.time ?? time, since: since) }
        }
    }

    /// Adds the documents below a folder that has disappeared.
    private func remove(_ location: DocumentLocation, noticedAt time: ContinuousClock.Instant) async {
        options.problems.replace(in: location, withRejected: [], foreign: [])
        do throws(StatusError) {
            let documents = try await reader.indexedDocuments(in: location)
            state.withLock { $0.absent.formUnion(documents) }
            add(documents, noticedAt: time, since: Self.noticedSince())
        } catch {
            components.logger.debug("Cannot look for removed files", metadata: ["error": "\(error)"])
            scanAgain(after: Self.retryTime)
        }
    }
}

extension FolderEdits.State {
    /// Returns the files that were left alone. Files that change together are returned together: all once none of them changes any
    /// more, or after some time those that do not.
    fileprivate func due(at now: ContinuousClock.Instant, after quietTime: Duration) -> [DocumentPath] {
        let times = dueTimes(at: now, after: quietTime)
        return pending.filter { path, file in
            let due = absent.contains(path) ? times.absent : times.present
            return file.time <= now - quietTime && due.map { $0 <= now } ?? false
        }.map(\.key)
    }

    /// Returns the times from which the pending files are taken: once none changes any more, or after some time. Removed ones are left
    /// alone for as long as others are removed, so that it shows how many they are.
    private func dueTimes(at now: ContinuousClock.Instant, after quietTime: Duration) -> FolderEdits.DueTimes {
        typealias Period = (oldest: ContinuousClock.Instant, newest: ContinuousClock.Instant)
        var (present, absent): (Period?, Period?)
        var times = FolderEdits.DueTimes()
        for (path, file) in pending {
            let time = file.time
            if time > now {
                // It is to be tried again later.
                times.later = min(times.later ?? time + quietTime, time + quietTime)
            } else if self.absent.contains(path) {
                absent = absent.map { (min($0.oldest, time), max($0.newest, time)) } ?? (time, time)
            } else {
                present = present.map { (min($0.oldest, time), max($0.newest, time)) } ?? (time, time)
            }
        }
        guard let newest = [present?.newest, absent?.newest].compactMap(\.self).max() else { return times }
        let maximumDelay = quietTime * 5
        times.present = present.map { min(newest + quietTime, $0.oldest + maximumDelay) }
        times.absent = absent.map { absent in
            let end = max(absent.newest + quietTime, absent.oldest + maximumDelay)
            return min(newest + quietTime, end, absent.oldest + max(FolderEdits.removalPeriod, maximumDelay))
        }
        return times
    }
}

extension FolderEdits {
    /// The times from which files are taken; `nil` if there are none.
    fileprivate struct DueTimes {
        /// The time for files that have changed.
        var present: ContinuousClock.Instant?
        /// The time for files that were removed.
        var absent: ContinuousClock.Instant?
        /// The time for files that are tried again.
        var later: ContinuousClock.Instant?

        /// The first of them.
        var next: ContinuousClock.Instant? { [present, absent, later].compactMap(\.self).min() }
    }
}
