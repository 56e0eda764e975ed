internal import DocumentModel
internal import DocumentStore
internal import Logging
internal import StorageIO
internal import StrictJSON
internal import Synchronization

// Commits of edits.

extension FolderEdits {
    /// The maximum numbers of documents and of their bytes in a commit.
    private static let commitDocuments = 500
    private static let commitBytes = 4 << 20
    /// The maximum number of commits in progress: one is prepared while the other one is made.
    private static let commitsInProgress = 2
    /// The time for which a file that ends within a value may stay so.
    static let incompleteTime = Duration.seconds(30)
    /// The time after which such a file is looked at again.
    private static let incompleteRetryTime = Duration.seconds(1)

    /// Makes commits of those of the files that are edits. While the edits of some files are committed, the next files are read, and their
    /// commit is prepared.
    ///
    /// - Parameter afterQuietTime: True if the files were left alone, false if a commit has found them: then also files whose removal was not
    ///   noticed before are taken for deleted.
    func take(_ paths: [DocumentPath], afterQuietTime: Bool = false) async {
        await beginCommitting(paths)
        defer { endCommitting() }
        let removals = afterQuietTime ? state.withLock(\.noticedRemovals) : nil
        let unknown: (paths: [DocumentPath], removed: [DocumentPath])
        do throws(StatusError) {
            unknown = try await reader.unknownFiles(among: paths)
        } catch {
            return retry(paths, because: error)
        }
        var (rest, changes) = (unknown.paths[...], [FileEdit]())
        if rest.count > Self.commitDocuments {
            let (deletions, known) = await deletions(among: unknown.removed, removals)
            changes = deletions
            if !known.isEmpty { rest = rest.filter { !known.contains($0) }[...] }
        }
        if changes.isEmpty { changes = await self.changes(of: rest.removePrefix(Self.commitDocuments), removals) }
        if options.authorization != nil, !unknown.removed.isEmpty {
            // A renamed file may be anywhere among the others.
            while !rest.isEmpty { changes += await self.changes(of: rest.removePrefix(Self.commitDocuments), removals) }
        }
        await withTaskGroup(of: Void.self) { commits in
            var (rest, changes, count) = (rest, changes, 0)
            while !changes.isEmpty || !rest.isEmpty {
                if count == Self.commitsInProgress {
                    await commits.next()
                    count -= 1
                }
                commits.addTask { [changes] in await self.commit(changes) }
                count += 1
                changes = await self.changes(of: rest.removePrefix(Self.commitDocuments), removals)
            }
        }
    }

    /// Reads files; returns the edits that change documents, and puts others in order.
    ///
    /// - Parameter removals: The documents whose files may be taken for deleted; `nil` for all.
    private func changes(of paths: ArraySlice<DocumentPath>, _ removals: Set<DocumentPath>?) async -> [FileEdit] {
        guard !paths.isEmpty else { return [] }
        var changes: [FileEdit] = []
        do throws(StatusError) {
            for (path, state) in try await reader.states(of: paths) {
                switch state {
                case .committed:
                    didRead(path)
                    options.problems.removeWaiting(CollectionOfOne(path))
                case .busy: retry([path], after: options.quietTime)
                case .unreachable: break
                case .quarantined(let error): reportFailure(error, of: path)
                case .damaged(let error, let identity): await resolveDamage(error, identity, path)
                case .edited(let edit) where edit.contents == nil && removals?.contains(path) == false:
                    awaitOtherRemovals(with: path)
                case .edited(let edit):
                    didRead(path)
                    if let primary = components.primary {
                        await undo(edit, onStandbyOf: primary)
                    } else if let change = await change(of: edit) {
                        changes.append(change)
                    }
                }
            }
        } catch {
            retry(paths, because: error)
        }
        return changes
    }

    /// Returns an edit that changes its document, merged with later commits; `nil` after any other one, which is resolved.
    private func change(of edit: FileEdit) async -> FileEdit? {
        do throws(StatusError) {
            switch try await effect(of: edit) {
            case .none: break
            case .form(let committed): await settle(edit, as: committed)
            case .change:
                // It would be judged as a creation.
                if options.authorization != nil, edit.base == .unknown { throw .unknownVersion(before: edit.path) }
                return edit.keepingText(options.keepsTexts)
            case .merge(let fields): return edit.merged(fields)
            case .conflict(let committed): try await reject(edit, because: nil, restoring: committed)
            }
            options.problems.removeWaiting(CollectionOfOne(edit.path))
        } catch {
            reportFailure(error, of: edit.path)
        }
        return nil
    }

    /// Waits until no other edits are being taken.
    private func beginCommitting(_ paths: [DocumentPath]) async {
        await withCheckedContinuation { continuation in
            let begins = state.withLock { state in
                guard state.isCommitting else {
                    state.isCommitting = true
                    return true
                }
                state.waiters.append(continuation)
                return false
            }
            if begins { continuation.resume() }
        }
        state.withLock { $0.beginCommitting(paths) }
    }

    private func endCommitting() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.committing = []
            state.committingSince = nil
            state.isCommitting = !state.waiters.isEmpty
            return state.waiters.isEmpty ? nil : state.waiters.removeFirst()
        }
        next?.resume()
    }

    /// Leaves a removed file alone for the quiet time: it may be one of many, whose removal has not been noticed yet.
    private func awaitOtherRemovals(with path: DocumentPath) {
        state.withLock { state in
            state.absent.insert(path)
            state.insert(path, at: .now, since: state.committingSince ?? Self.noticedSince())
        }
        schedule()
    }

    private func retry(_ paths: some Sequence<DocumentPath>, after delay: Duration) {
        let time = ContinuousClock.now + delay - options.quietTime
        state.withLock { state in
            let since = state.committingSince ?? Self.noticedSince()
            for path in paths where state.pending[path] == nil { state.insert(path, at: time, since: since) }
        }
        schedule()
    }

    private func commit(_ edits: [FileEdit]) async {
        var changes = edits
        let refused = refusedDeletions(among: changes)
        if !refused.isEmpty {
            await setRemovedFileCount(options.problems.removedFileCount)
            changes.removeAll { refused.contains($0.path) }
        }
        let groups: [EditGroup]
        if options.authorization == nil {
            groups = changes.map { EditGroup(edits: [$0]) }
        } else {
            // The owner of its file decides whether an edit is permitted.
            groups = EditGroup.groups(of: changes).sorted { ($0.owner ?? "") < ($1.owner ?? "") }
        }
        var rest = groups[...]
        while let first = rest.first {
            var (byteCount, count) = (0, 0)
            let part = rest.prefix { group in
                let isFirst = count == 0
                count += group.edits.count
                byteCount += group.byteCount
                return isFirst
                    || count <= Self.commitDocuments && byteCount <= Self.commitBytes
                        && (options.authorization == nil || group.owner == first.owner)
            }
            rest = rest.dropFirst(part.count)
            await commitPart(Array(part))
        }
    }

    private func effect(of edit: FileEdit) async throws(StatusError) -> FileEdit.Effect {
        try await edit.effect { time throws(StatusError) in
            guard self.options.keepsTexts else { return try await self.reader.version(of: edit.path, asOf: time) }
            return try await self.reader.versionOfText(of: edit.path, stating: time)
        }
    }

    private func commitPart(_ groups: [EditGroup]) async {
        let edits = groups.flatMap(\.edits)
        let authorization: (any CommitAuthorization)?
        do throws(StatusError) {
            authorization = try await self.authorization(of: groups)
        } catch {
            return retry(edits.map(\.path), because: error)
        }
        do throws(StatusError) {
            _ = try await commitQueue.commit(edits, authorization: authorization)
            options.problems.removeWaiting(edits.lazy.map(\.path))
        } catch {
            guard error.code != .aborted else { return retry(edits.map(\.path), after: options.quietTime) }
            // It is not about one of them.
            if groups.count > 1, error.isOfStore { return retry(edits.map(\.path), because: error) }
            // One that is refused must not hold up the others.
            guard groups.count == 1 else {
                for group in groups { await commitPart([group]) }
                return
            }
            await resolve(error, of: edits)
        }
    }

    /// Rejects edits that became no commit, or tries them again.
    private func resolve(_ error: StatusError, of edits: [FileEdit]) async {
        let known = edits.compactMap { edit in
            if case .known(let committed) = edit.base { (edit: edit, committed: committed) } else { nil }
        }
        guard error.isRefusalOfEdit, known.count == edits.count else {
            for edit in edits { reportFailure(error, of: edit.path) }
            return
        }
        for (edit, committed) in known {
            do throws(StatusError) {
                try await reject(edit, because: error, restoring: committed)
                options.problems.removeWaiting(CollectionOfOne(edit.path))
            } catch {
                reportFailure(error, of: edit.path)
            }
        }
    }

    private func retry(_ paths: some Collection<DocumentPath>, because error: StatusError) {
        components.logger.warning(
            "Edited files cannot be taken; trying again in some seconds",
            metadata: ["error": "\(error)", "store.edited_documents": "\(paths.count)"]
        )
        retry(paths, after: Self.retryTime)
    }

    /// Returns the decision about edits of one owner; `nil` if they are permitted.
    private func authorization(of groups: [EditGroup]) async throws(StatusError) -> (any CommitAuthorization)? {
        guard let authorization = options.authorization else { return nil }
        return try await authorization(components.data.manifest.database, groups.first?.owner)
    }

    private func reportFailure(_ error: StatusError, of path: DocumentPath) {
        if options.problems.insertWaiting(path, error) {
            components.logger.warning(
                "An edited file cannot be taken; trying again every few seconds",
                metadata: ["document.path": "\(path)", "error": "\(error)"]
            )
        }
        retry([path], after: Self.retryTime)
    }
}

// MARK: Removed files

extension FolderEdits {
    /// Takes the files that are missing for deletions, however many they are.
    func acceptRemovedFiles() {
        state.withLock { state in
            state.acceptsRemovedFiles = true
            state.unscanned.insert(.root)
        }
        schedule()
    }

    /// Returns the deletions by removed files that may be too many, before the first of them are committed: the files of a whole folder are
    /// removed at once, though not in one commit.
    ///
    /// - Parameter removals: The documents whose files may be taken for deleted; `nil` for all.
    /// - Returns: The deletions, and all documents that were looked at, among them those that commits have deleted.
    private func deletions(
        among removed: [DocumentPath],
        _ removals: Set<DocumentPath>?
    ) async -> (deletions: [FileEdit], known: Set<DocumentPath>) {
        guard options.problems.removedFileCount == 0, recordRemovals([]) + removed.count > options.maximumDeletions else {
            return ([], [])
        }
        var (rest, deletions) = (removed[...], [FileEdit]())
        while !rest.isEmpty {
            let next = await changes(of: rest.removePrefix(Self.commitDocuments), removals)
            deletions += next
            guard recordRemovals(next.lazy.filter { $0.contents == nil }.map(\.path)) > options.maximumDeletions else { continue }
            // They are as many as they seem to be.
            _ = recordRemovals(rest)
            break
        }
        return (deletions, Set(removed.dropLast(rest.count)))
    }

    /// Returns the documents with removed files that are not taken for deletions: too many at once, and all later ones until a person has
    /// accepted them, or all files are back.
    private func refusedDeletions(among edits: [FileEdit]) -> Set<DocumentPath> {
        var removed = Set(edits.lazy.filter { $0.contents == nil }.map(\.path))
        state.withLock { state in
            guard !state.acceptedRemovals.isEmpty else { return }
            let accepted = removed.intersection(state.acceptedRemovals)
            state.acceptedRemovals.subtract(accepted)
            removed.subtract(accepted)
        }
        guard !removed.isEmpty else { return [] }
        let waitingCount = options.problems.removedFileCount
        let count = waitingCount > 0 ? waitingCount : recordRemovals(removed)
        guard waitingCount > 0 || count > options.maximumDeletions else { return [] }
        // A commit must not wait for the deletion.
        for path in removed { components.cache.remove(path) }
        options.problems.removedFileCount = max(count, removed.count)
        if waitingCount == 0 {
            components.logger.error(
                """
                Too many document files were removed at once to be deletions. Put the files back; or accept the deletions with \
                hearth files accept-removed
                """,
                metadata: ["store.removed_files": "\(count)", "store.maximum_deletions": "\(options.maximumDeletions)"]
            )
            state.withLock { state in
                state.removals = [:]
                scheduleRecount(after: Self.removalScanTime, in: &state)
            }
        }
        return removed
    }

    /// Records removed files, but for those that a person has accepted. Returns the number of those of the last seconds.
    private func recordRemovals(_ paths: some Sequence<DocumentPath>) -> Int {
        let now = ContinuousClock.now
        return state.withLock { state in
            if let first = state.removals.values.min(), first < now - Self.removalPeriod {
                state.removals = state.removals.filter { $0.value >= now - Self.removalPeriod }
            }
            for path in paths where !state.acceptedRemovals.contains(path) { state.removals[path] = now }
            return state.removals.count
        }
    }
}

// MARK: Rejected edits

extension FolderEdits {
    /// Gives the file of an edit another name, and puts the committed version in its place.
    ///
    /// - Parameters:
    ///   - error: The reason; `nil` for a conflict with later commits.
    ///   - committed: The committed version; `nil` if the document does not exist.
    private func reject(
        _ edit: FileEdit,
        because error: StatusError?,
        restoring committed: EncodedDocument?
    ) async throws(StatusError) {
        guard let identity = edit.identity else {
            guard let committed else { return }
            components.logger.warning(
                "The removal of a file was refused; the file is put back",
                metadata: ["document.path": "\(edit.path)", "error": "\(error.map { "\($0)" } ?? "")"]
            )
            return await rewrite(committed, ifFileIs: nil)
        }
        try await reject(edit.path, identity, because: error, restoring: committed)
    }

    private func reject(
        _ path: DocumentPath,
        _ identity: FileIdentity,
        because error: StatusError?,
        restoring committed: EncodedDocument?
    ) async throws(StatusError) {
        let files = components.files
        let rejected = try await scanQueue.run { () throws(StatusError) in
            try files.reject(path, identity, because: error == nil ? .conflict : .invalid, keepingName: committed != nil)
        }
        guard let (edit, hasName) = rejected else { return retry([path], after: options.quietTime) }
        // A reader may have cached it.
        if committed == nil { components.cache.remove(path) }
        if let committed, !(await commitQueue.rewrite(committed, ifFileIs: hasName ? identity : nil)) {
            // It is rejected again, once files can be written.
            try await scanQueue.run { () throws(StatusError) in try files.withdraw(edit, of: path, hasName: hasName) }
            return retry([path], after: Self.retryTime)
        }
        options.problems.report(edit, error, in: files)
    }

    /// Writes the file of an edit that has only changed its form anew, unless it keeps its text.
    private func settle(_ edit: FileEdit, as committed: EncodedDocument) async {
        if options.keepsTexts, await commitQueue.keepText(edit, of: committed) { return }
        await rewrite(committed, ifFileIs: edit.identity)
    }

    /// Writes the file of the last committed version of a document anew, unless the file has changed; tries again if that fails.
    private func rewrite(_ committed: EncodedDocument, ifFileIs identity: FileIdentity?) async {
        if await !commitQueue.rewrite(committed, ifFileIs: identity) { retry([committed.path], after: Self.retryTime) }
    }

    /// Puts back what an edit has changed on a standby.
    private func undo(_ edit: FileEdit, onStandbyOf primary: String) async {
        do throws(StatusError) {
            switch (try await effect(of: edit), edit.base) {
            case (.none, _): break
            case (.form(let committed), _): await rewrite(committed, ifFileIs: edit.identity)
            case (_, .known(let committed)):
                try await reject(edit, because: StatusError.standby(of: primary), restoring: committed)
            case (_, .unknown):
                components.logger.warning(
                    "A file was edited on a standby, whose last version is not known here. Follow the primary with an empty folder",
                    metadata: ["document.path": "\(edit.path)"]
                )
            }
            options.problems.removeWaiting(CollectionOfOne(edit.path))
        } catch {
            reportFailure(error, of: edit.path)
        }
    }

    /// Waits for the end of a file that is half written; rejects any other file that is not a document.
    private func resolveDamage(_ error: StatusError, _ identity: FileIdentity, _ path: DocumentPath) async {
        if error.isOfIncompleteText {
            let now = ContinuousClock.now
            let since = state.withLock { state in
                if let known = state.incomplete[path], known.identity == identity { return known.since }
                state.incomplete[path] = (identity, now)
                return now
            }
            guard now - since >= Self.incompleteTime else { return retry([path], after: Self.incompleteRetryTime) }
        }
        // A program may still write to it.
        guard identity.modifiedMicroseconds < Timestamp.current().microseconds - Int64(options.quietTime / .microseconds(1))
        else {
            return retry([path], after: options.quietTime)
        }
        state.withLock { $0.incomplete[path] = nil }
        do throws(StatusError) {
            // Links, sockets and huge files are left where they are.
            if error.code == .dataLoss, error.file?.line != nil,
                case .known(let committed) = try await reader.base(of: path, before: identity)
            {
                try await reject(path, identity, because: error, restoring: committed)
                return options.problems.removeDamaged([path])
            }
        } catch {
            return reportFailure(error, of: path)
        }
        // It may be all that there is of the document.
        components.unreadable.insert(path)
        guard options.problems.insertDamaged(path) else { return }
        components.logger.warning(
            "An edited file cannot be read as a document, and its last version is not known. Correct it, or restore it from a backup",
            metadata: [
                "file.path": "\(error.file?.path ?? "")", "file.line": "\(error.file?.line ?? 0)",
                "file.column": "\(error.file?.column ?? 0)", "error": "\(error)",
            ]
        )
    }

    private func didRead(_ path: DocumentPath) {
        options.problems.removeDamaged([path])
        state.withLock { state in
            if !state.incomplete.isEmpty { state.incomplete[path] = nil }
        }
    }
}

extension StatusError {
    /// The error of an edit about which rules cannot decide.
    fileprivate static func unknownVersion(before path: DocumentPath) -> StatusError {
        StatusError(
            .failedPrecondition,
            """
            The version before the edit is not known, so that the rules cannot decide about it: its commit is no longer retained. Write the \
            document by a call instead.
            """,
            path: path.string
        )
    }

    /// True if a file ends within a value, as one does that is being written.
    fileprivate var isOfIncompleteText: Bool {
        if case .unexpectedEnd = (cause as? JSONSyntaxError)?.reason { true } else { false }
    }

    /// True if a commit of edits failed for the state of the store.
    fileprivate var isOfStore: Bool {
        switch code {
        case .unavailable, .cancelled, .deadlineExceeded: true
        case .resourceExhausted: isLackOfSpace
        default: false
        }
    }

    /// True if a commit of an edit was refused for what it has, and not for the state of the store.
    fileprivate var isRefusalOfEdit: Bool {
        switch code {
        case .invalidArgument, .failedPrecondition, .permissionDenied, .unauthenticated: true
        case .resourceExhausted: !isLackOfSpace
        default: false
        }
    }
}

extension ArraySlice {
    /// Removes the first elements, at most `maximumCount` of them, and returns them.
    fileprivate mutating func removePrefix(_ maximumCount: Int) -> Self {
        defer { self = dropFirst(maximumCount) }
        return prefix(maximumCount)
    }
}

extension EditGroup {
    /// The approximate size of its record.
    fileprivate var byteCount: Int {
        edits.reduce(0) { size, edit in size + (edit.contents.map { Document.size(of: $0.fields, at: edit.path) } ?? 256) }
    }
}
