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
/// - A file that is not a document, for example because it is only half written, stays as it is until it changes again.
/// - A file that was written on the basis of an earlier version than the committed one is kept beside it, and the committed version
///   takes its place.
/// - Of too many removed files at once, none becomes a deletion: a disk that is not mounted must not empty the database.
/// - A commit that writes a document waits until an edit of its file has been taken.
final class FolderEdits: Sendable {
    /// The options.
    struct Options: Sendable {
        /// The time for which a file must be left alone.
        let quietTime: Duration
        /// The number of files removed at once up to which these are deletions.
        let maximumDeletions: Int
        /// The time of the last record of the store's state before it was opened, in microseconds since 1970; `nil` if the files are
        /// not those of that store.
        let stopTime: Int64?
    }

    private struct State {
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
        /// The damaged files that have been seen once.
        var damaged: [DocumentPath: FileIdentity] = [:]
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
            return pending.values.min().map { max(.milliseconds(1), $0 + quietTime - now) }
        }
    }

    private let state = Mutex(State())
    private let events = Mutex<FolderEventQueue?>(nil)
    private let components: StoreComponents
    private let reader: EditReader
    private let scanQueue: WorkQueue
    private let commitQueue: CommitQueue
    private let options: Options
    private let queue = DispatchQueue(label: "hearth.edits", qos: .utility)
    private let completion = DispatchGroup()

    /// The maximum numbers of documents and of their bytes in a commit.
    private static let commitDocuments = 500
    private static let commitBytes = 4 << 20
    /// The time after which a damaged file is reported, and after which an edit that could not be taken is tried again.
    private static let retryTime = Duration.seconds(5)
    /// The least time between two scans without watches, and its ratio to the duration of a scan.
    private static let scanInterval = Duration.seconds(2)
    private static let scanPause = 20
    /// The time within which removed files count as removed at once.
    private static let removalPeriod = Duration.seconds(10)

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

    /// Ends the watch, and returns when no edit is being taken.
    func stop() async {
        state.withLock { $0.isStopped = true }
        events.withLock(\.self)?.stop()
        await withCheckedContinuation { continuation in completion.notify(queue: queue) { continuation.resume() } }
    }

    /// Takes the edits of documents whose files cannot be read as those of the store, or waits a moment for a program that is
    /// writing one.
    ///
    /// - Returns: `false` if there is no edit.
    func takeOrWait(before writes: [Write]) async -> Bool {
        if await take(before: writes) { return true }
        guard writes.contains(where: { reader.isBeingWritten($0.path) }) else { return false }
        return (try? await Task.sleep(for: .milliseconds(10))) != nil
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
            guard !state.pending.isEmpty || !state.taking.isEmpty || !state.isComplete else {
                return (false, Set<DocumentPath>())
            }
            let paths = Set(writes.lazy.map(\.path))
            let isTaking = !state.taking.isDisjoint(with: paths)
            return (isTaking, state.isComplete ? paths.filter { state.pending[$0] != nil } : paths)
        }
        // Until all folders have been scanned, each file may be an edit.
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
            if event.kind == .present { state.unscanned.insert(inner) } else { state.removed.insert(inner) }
        default:
            break
        }
    }

    private func reportRefusal(_ error: FileSystemError) {
        let isFirst = state.withLock { state in
            defer { state.isWatched = false }
            return state.isWatched
        }
        guard isFirst else { return }
        let advice = error.isResourceLimit ? ". Raise fs.inotify.max_user_watches or fs.inotify.max_user_instances" : ""
        components.logger.warning(
            "The system does not permit to watch the folders of documents; edits of files are noticed after some seconds\(advice)",
            metadata: ["error": "\(error)"]
        )
    }

    /// Schedules the next work, unless it is scheduled or in progress.
    private func schedule() {
        let now = ContinuousClock.now
        let next = state.withLock { state -> (delay: Duration, time: ContinuousClock.Instant)? in
            guard !state.isWorking, !state.isStopped, let delay = state.delay(at: now, after: options.quietTime) else {
                return nil
            }
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
        let time = location == .root ? state.withLock(\.lastScan) ?? options.stopTime ?? .max : .min
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
            add(result.candidates)
            add(try await reader.unindexedChanges(in: location, result.counts))
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
            scanAgain(after: Self.retryTime)
        }
    }

    private func scanAgain(after delay: Duration) {
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
        do throws(StatusError) {
            add(try await reader.indexedDocuments(in: location))
        } catch {
            components.logger.debug("Cannot look for removed files", metadata: ["error": "\(error)"])
            scanAgain(after: Self.retryTime)
        }
    }
}

// MARK: Taking

extension FolderEdits {
    /// Makes commits of those of the files that are edits.
    private func take(_ paths: [DocumentPath]) async {
        await beginTaking(paths)
        defer { endTaking() }
        let candidates = paths.filter { !reader.isCommitted($0) }.sorted()
        // The files of a whole folder are removed at once, though not in one commit.
        let removedCount = candidates.count > Self.commitDocuments ? try? await reader.removedCount(among: candidates) : nil
        for start in stride(from: 0, to: candidates.count, by: Self.commitDocuments) {
            let part = candidates[start..<min(start + Self.commitDocuments, candidates.count)]
            await takePart(Array(part), removedAtOnce: start == 0 ? removedCount : 0)
        }
    }

    /// - Parameter removedCount: The number of removed files to be counted with those of the last seconds; `nil` for those of the part.
    private func takePart(_ candidates: [DocumentPath], removedAtOnce removedCount: Int?) async {
        do throws(StatusError) {
            var edits: [FileEdit] = []
            for (path, state) in try await reader.states(of: candidates) {
                switch state {
                case .committed: break
                case .busy: retry([path], after: options.quietTime)
                case .damaged(let error, let identity): recordDamage(error, identity, path)
                case .edited(let edit): edits.append(edit)
                }
            }
            await commit(edits, removedAtOnce: removedCount)
        } catch {
            components.logger.warning(
                "Edited files cannot be taken; trying again in some seconds",
                metadata: ["error": "\(error)", "store.edited_documents": "\(candidates.count)"]
            )
            retry(candidates, after: Self.retryTime)
        }
    }

    /// Waits until no other edits are being taken.
    private func beginTaking(_ paths: [DocumentPath]) async {
        await withCheckedContinuation { continuation in
            let begins = state.withLock { state in
                guard state.isTaking else {
                    state.isTaking = true
                    return true
                }
                state.waiters.append(continuation)
                return false
            }
            if begins { continuation.resume() }
        }
        state.withLock { state in
            state.taking = Set(paths)
            for path in paths { state.pending[path] = nil }
        }
    }

    private func endTaking() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.taking = []
            state.isTaking = !state.waiters.isEmpty
            return state.waiters.isEmpty ? nil : state.waiters.removeFirst()
        }
        next?.resume()
    }

    private func retry(_ paths: [DocumentPath], after delay: Duration) {
        let time = ContinuousClock.now + delay - options.quietTime
        state.withLock { state in
            for path in paths where state.pending[path] == nil { state.pending[path] = time }
        }
        schedule()
    }

    private func commit(_ edits: [FileEdit], removedAtOnce removedCount: Int?) async {
        var changes: [FileEdit] = []
        for edit in edits {
            do throws(StatusError) {
                let effect = try await edit.effect { time throws(StatusError) in
                    try await self.reader.version(of: edit.path, asOf: time)
                }
                switch effect {
                case .none: break
                case .form(let committed): await commitQueue.rewrite(committed, ifFileIs: edit.identity)
                case .change: changes.append(edit)
                case .conflict(let committed): try await keepConflict(edit, with: committed)
                }
            } catch {
                reportFailure(error, of: edit.path)
            }
        }
        let deletions = changes.count { $0.contents == nil }
        let removals = recordRemovals(removedCount ?? deletions)
        if deletions > 0, removals > options.maximumDeletions {
            components.logger.error(
                """
                Too many document files were removed at once to be deletions. Put the files back; or delete the documents by calls, \
                or stop the server, and run hearth check --repair
                """,
                metadata: ["store.removed_files": "\(removals)", "store.maximum_deletions": "\(options.maximumDeletions)"]
            )
            changes.removeAll { $0.contents == nil }
        }
        var rest = changes[...]
        while !rest.isEmpty {
            var byteCount = 0
            let part = rest.prefix(Self.commitDocuments).prefix { edit in
                byteCount += edit.byteCount
                return byteCount <= Self.commitBytes || byteCount == edit.byteCount
            }
            rest = rest.dropFirst(part.count)
            await commitPart(Array(part))
        }
    }

    /// Records removed files. Returns the number of those of the last seconds.
    private func recordRemovals(_ count: Int) -> Int {
        let now = ContinuousClock.now
        return state.withLock { state in
            state.removals.removeAll { $0.time < now - Self.removalPeriod }
            state.removals.append((now, count))
            return state.removals.reduce(0) { $0 + $1.count }
        }
    }

    private func commitPart(_ edits: [FileEdit]) async {
        let paths = edits.map(\.path)
        do throws(StatusError) {
            _ = try await commitQueue.commit(edits)
            state.withLock { state in for path in paths { state.damaged[path] = nil } }
        } catch {
            guard error.code != .aborted else { return retry(paths, after: options.quietTime) }
            // One that is refused must not hold up the others.
            guard edits.count == 1 else {
                for edit in edits { await commitPart([edit]) }
                return
            }
            reportFailure(error, of: paths[0])
        }
    }

    private func reportFailure(_ error: StatusError, of path: DocumentPath) {
        components.logger.warning(
            "An edited file cannot be taken; trying again in some seconds",
            metadata: ["document.path": "\(path)", "error": "\(error)"]
        )
        retry([path], after: Self.retryTime)
    }

    /// Keeps an edit of an earlier version beside the document, and puts the committed version in its place.
    private func keepConflict(_ edit: FileEdit, with committed: EncodedDocument) async throws(StatusError) {
        let files = components.files
        let name = try await scanQueue.run { () throws(StatusError) in try files.keepConflict(edit) }
        guard let name else { return retry([edit.path], after: options.quietTime) }
        components.logger.warning(
            "A file was edited on the basis of an earlier version of its document; it is kept beside the committed one",
            metadata: ["document.path": "\(edit.path)", "file.name": "\(name)"]
        )
        await commitQueue.rewrite(committed, ifFileIs: edit.identity)
    }

    /// Waits for the end of a write, and then reports that a file is not a document.
    private func recordDamage(_ error: StatusError, _ identity: FileIdentity, _ path: DocumentPath) {
        let isKnown = state.withLock { state in
            defer { state.damaged[path] = identity }
            return state.damaged[path] == identity
        }
        guard isKnown else { return retry([path], after: Self.retryTime) }
        components.unreadable.insert(path)
        components.logger.warning(
            "An edited file is not a document. Correct it, or restore it from a backup",
            metadata: [
                "file.path": "\(error.file?.path ?? "")", "file.line": "\(error.file?.line ?? 0)",
                "file.column": "\(error.file?.column ?? 0)", "error": "\(error)",
            ]
        )
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

extension FileEdit {
    /// The approximate size of its record.
    fileprivate var byteCount: Int {
        contents.map { Document.size(of: $0.fields, at: path) } ?? 256
    }
}
