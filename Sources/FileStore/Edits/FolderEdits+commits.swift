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
    /// The time for which a file that ends within a value may stay so.
    static let incompleteTime = Duration.seconds(30)
    /// The time after which such a file is looked at again.
    private static let incompleteRetryTime = Duration.seconds(1)
    /// The time within which removed files count as removed at once.
    private static let removalPeriod = Duration.seconds(10)

    /// Makes commits of those of the files that are edits.
    func take(_ paths: [DocumentPath]) async {
        await beginTaking(paths)
        defer { endTaking() }
        let candidates = paths.filter { !reader.isCommitted($0) }.sorted()
        // The files of a whole folder are removed at once, though not in one commit.
        let removedCount =
            candidates.count > Self.commitDocuments ? try? await reader.removedFiles(among: candidates).count : nil
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
                case .committed: didRead(path)
                case .busy: retry([path], after: options.quietTime)
                case .damaged(let error, let identity): await resolveDamage(error, identity, path)
                case .edited(let edit):
                    didRead(path)
                    edits.append(edit)
                }
            }
            if let primary = components.primary {
                for edit in edits { await undo(edit, onStandbyOf: primary) }
            } else {
                await commit(edits, removedAtOnce: removedCount)
            }
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
                switch try await effect(of: edit) {
                case .none: break
                case .form(let committed): await rewrite(committed, ifFileIs: edit.identity)
                case .change: changes.append(edit)
                case .merge(let fields): changes.append(edit.merged(fields))
                case .conflict(let committed): try await reject(edit, because: nil, restoring: committed)
                }
            } catch {
                reportFailure(error, of: edit.path)
            }
        }
        let refused = refusedDeletions(among: changes, removedAtOnce: removedCount)
        if !refused.isEmpty { changes.removeAll { refused.contains($0.path) } }
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

    private func effect(of edit: FileEdit) async throws(StatusError) -> FileEdit.Effect {
        try await edit.effect { time throws(StatusError) in
            try await self.reader.version(of: edit.path, asOf: time)
        }
    }

    private func commitPart(_ edits: [FileEdit]) async {
        do throws(StatusError) {
            _ = try await commitQueue.commit(edits)
        } catch {
            guard error.code != .aborted else { return retry(edits.map(\.path), after: options.quietTime) }
            // One that is refused must not hold up the others.
            guard edits.count == 1 else {
                for edit in edits { await commitPart([edit]) }
                return
            }
            let edit = edits[0]
            guard error.isRefusalOfEdit, case .known(let committed) = edit.base else {
                return reportFailure(error, of: edit.path)
            }
            do throws(StatusError) {
                try await reject(edit, because: error, restoring: committed)
            } catch {
                reportFailure(error, of: edit.path)
            }
        }
    }

    private func reportFailure(_ error: StatusError, of path: DocumentPath) {
        components.logger.warning(
            "An edited file cannot be taken; trying again in some seconds",
            metadata: ["document.path": "\(path)", "error": "\(error)"]
        )
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

    /// Returns the documents with removed files that are not taken for deletions: too many at once, and all later ones until a person has
    /// accepted them, or all files are back.
    private func refusedDeletions(among edits: [FileEdit], removedAtOnce removedCount: Int?) -> Set<DocumentPath> {
        var removed = Set(edits.lazy.filter { $0.contents == nil }.map(\.path))
        let count = recordRemovals(removedCount ?? removed.count)
        state.withLock { state in
            guard !state.acceptedRemovals.isEmpty else { return }
            let accepted = removed.intersection(state.acceptedRemovals)
            state.acceptedRemovals.subtract(accepted)
            removed.subtract(accepted)
        }
        let waitingCount = options.problems.removedFileCount
        guard !removed.isEmpty, waitingCount > 0 || count > options.maximumDeletions else { return [] }
        // A commit must not wait for the deletion.
        for path in removed { components.cache.remove(path) }
        options.problems.removedFileCount = waitingCount == 0 ? count : max(waitingCount, removed.count)
        if waitingCount == 0 {
            components.logger.error(
                """
                Too many document files were removed at once to be deletions. Put the files back; or accept the deletions with \
                hearth files accept-removed
                """,
                metadata: ["store.removed_files": "\(count)", "store.maximum_deletions": "\(options.maximumDeletions)"]
            )
            scanAgain(after: Self.removalScanTime)
        }
        return removed
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
            if let committed { await rewrite(committed, ifFileIs: nil) }
            return
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
        if let committed, !(await commitQueue.rewrite(committed, ifFileIs: hasName ? identity : nil)) {
            // It is rejected again, once files can be written.
            try await scanQueue.run { () throws(StatusError) in try files.withdraw(edit, of: path, hasName: hasName) }
            return retry([path], after: Self.retryTime)
        }
        options.problems.report(edit, error, in: files)
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
    /// True if a file ends within a value, as one does that is being written.
    fileprivate var isOfIncompleteText: Bool {
        if case .unexpectedEnd = (cause as? JSONSyntaxError)?.reason { true } else { false }
    }

    /// True if a commit of an edit was refused for what it has, and not for the state of the store.
    fileprivate var isRefusalOfEdit: Bool {
        switch code {
        case .invalidArgument, .failedPrecondition: true
        case .resourceExhausted: !isLackOfSpace
        default: false
        }
    }
}

extension FileEdit {
    /// The approximate size of its record.
    fileprivate var byteCount: Int {
        contents.map { Document.size(of: $0.fields, at: path) } ?? 256
    }
}
