internal import DocumentModel
internal import DocumentStore
internal import Logging
internal import StorageIO
internal import Synchronization
internal import UTF8Text

/// The edits of files that need a person: rejected ones, document files that cannot be read, removed files that are not taken for
/// deletions, edits that cannot be taken at present, and what is neither a document nor a folder of documents.
///
/// Rejected edits are known by the names of their files, which are found again when the store is opened.
final class EditProblems: Sendable {
    /// The file of a problem.
    private enum File: Hashable {
        case document(DocumentPath)
        /// An entry of a folder that is no document.
        case entry(DocumentLocation, name: [UInt8])
    }

    private enum Kind {
        case rejected
        case damaged
        case waiting
        case foreign
    }

    private enum Problem {
        case rejected(RejectedEdit)
        case damaged(DocumentPath)
        case waiting(DocumentPath, StatusError)
        case foreign(ForeignEntry)

        var file: File {
            switch self {
            case .rejected(let edit): .entry(.collection(edit.collection), name: Array(edit.name.utf8))
            case .damaged(let path), .waiting(let path, _): .document(path)
            case .foreign(let entry): .entry(entry.location, name: entry.name)
            }
        }

        var kind: Kind {
            switch self {
            case .rejected: .rejected
            case .damaged: .damaged
            case .waiting: .waiting
            case .foreign: .foreign
            }
        }

        var isDamage: Bool { kind == .damaged }
        var isWaiting: Bool { kind == .waiting }
    }

    private struct State {
        private(set) var problems: [File: Problem] = [:]
        /// The number of problems of each kind.
        private var counts: [Kind: Int] = [:]
        var removedFileCount = 0
        /// The edits that were saved while earlier ones of their files were committed: the times of these commits, and the update times
        /// that their texts state.
        var followers: [DocumentPath: (commitTime: Timestamp, statedTime: Timestamp)] = [:]

        /// Records a problem, in the place of the file's last one.
        ///
        /// - Returns: `false` if there are too many of its kind.
        @discardableResult
        mutating func insert(_ problem: Problem) -> Bool {
            let file = problem.file
            guard counts[problem.kind, default: 0] < EditProblems.maximumCount || problems[file]?.kind == problem.kind else {
                return false
            }
            set(problem, of: file)
            return true
        }

        mutating func remove(_ file: File, where isRemoved: (Problem) -> Bool = { _ in true }) {
            if let problem = problems[file], isRemoved(problem) { set(nil, of: file) }
        }

        private mutating func set(_ problem: Problem?, of file: File) {
            if let known = problems[file] { counts[known.kind, default: 0] -= 1 }
            if let problem { counts[problem.kind, default: 0] += 1 }
            problems[file] = problem
        }

        /// Removes the problems that a listing of a folder finds.
        mutating func removeEntries(in location: DocumentLocation) {
            let removed = problems.keys.filter { file in
                if case .entry(let folder, _) = file { location.contains(folder) } else { false }
            }
            for file in removed { set(nil, of: file) }
        }
    }

    private let state = Mutex(State())
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    /// The maximum number of files that are remembered with problems of each kind, so that those of one do not hide those of another.
    private static let maximumCount = 10_000

    /// The number of problems.
    var count: Int {
        state.withLock { $0.problems.count + ($0.removedFileCount > 0 ? 1 : 0) }
    }

    /// Records that there is a file with a rejected edit.
    func insert(_ edit: RejectedEdit) {
        state.withLock { state in _ = state.insert(.rejected(edit)) }
    }

    /// Records that an edit was rejected, and logs it.
    ///
    /// - Parameter error: The reason; `nil` for a conflict.
    func report(_ edit: RejectedEdit, _ error: StatusError? = nil, in files: DocumentFiles) {
        insert(edit)
        var metadata: Logger.Metadata = ["file.path": "\(files.filePath(edit.name, in: edit.collection))"]
        if let error {
            metadata["error"] = "\(error)"
            if let line = error.file?.line { metadata["file.line"] = "\(line)" }
            if let column = error.file?.column { metadata["file.column"] = "\(column)" }
        }
        switch edit.reason {
        case .invalid:
            logger.warning(
                "An edited file was rejected. It is kept beside the document, whose last version has taken its place",
                metadata: metadata
            )
        case .conflict:
            logger.warning(
                "A file was edited while its document changed; it is kept beside the document, which has the committed version",
                metadata: metadata
            )
        }
    }

    /// Records that there is no longer a file with a rejected edit.
    func remove(_ edit: RejectedEdit) {
        state.withLock { $0.remove(Problem.rejected(edit).file) }
    }

    /// Records that the file of a document cannot be read, and that its last version is not known.
    ///
    /// - Returns: `false` if that was recorded before.
    func insertDamaged(_ path: DocumentPath) -> Bool {
        state.withLock { state in
            !(state.problems[.document(path)]?.isDamage ?? false) && state.insert(.damaged(path))
        }
    }

    /// Returns whether one of the documents is known to have a file that cannot be read.
    func hasDamaged(_ paths: some Sequence<DocumentPath>) -> Bool {
        state.withLock { state in
            !state.problems.isEmpty && paths.contains { state.problems[.document($0)]?.isDamage ?? false }
        }
    }

    /// Records that files can be read, or are gone.
    func removeDamaged(_ paths: some Sequence<DocumentPath>) {
        remove(paths, where: \.isDamage)
    }

    /// Records that an edit cannot be taken at present.
    ///
    /// - Returns: `false` if that was recorded before, for the same reason.
    func insertWaiting(_ path: DocumentPath, _ error: StatusError) -> Bool {
        state.withLock { state in
            if case .waiting(_, let known)? = state.problems[.document(path)], known.message == error.message { return false }
            return state.insert(.waiting(path, error))
        }
    }

    /// Records that edits have been taken, or are none.
    func removeWaiting(_ paths: some Sequence<DocumentPath>) {
        remove(paths, where: \.isWaiting)
    }

    private func remove(_ paths: some Sequence<DocumentPath>, where isRemoved: (Problem) -> Bool) {
        state.withLock { state in
            guard !state.problems.isEmpty else { return }
            for path in paths { state.remove(.document(path), where: isRemoved) }
        }
    }

    /// Records an entry that is neither a document nor a folder of documents, and logs it.
    func insert(_ entry: ForeignEntry, _ fault: String, in folders: DocumentFolders) {
        let isNew = state.withLock { state in
            state.problems[Problem.foreign(entry).file] == nil && state.insert(.foreign(entry))
        }
        guard isNew else { return }
        logger.warning(
            "There is something among the documents that is neither a document nor a folder of documents",
            metadata: ["file.path": "\(folders.filePath(of: entry))", "error": "\(fault)"]
        )
    }

    /// Records that an entry is gone, or no longer foreign.
    func remove(_ entry: ForeignEntry) {
        state.withLock { $0.remove(Problem.foreign(entry).file) }
    }

    /// Records that a file was saved while an earlier edit of it was committed.
    ///
    /// - Parameters:
    ///   - commitTime: The time of the commit.
    ///   - statedTime: The update time that the text of the earlier edit states.
    func insertFollower(of path: DocumentPath, committedAt commitTime: Timestamp, stating statedTime: Timestamp) {
        state.withLock { state in
            // The others are conflicts at worst.
            if state.followers.count >= Self.maximumCount { state.followers = [:] }
            state.followers[path] = (commitTime, statedTime)
        }
    }

    /// Returns whether a text was saved over that of the edit that made a version, although it states an earlier time.
    func isFollower(_ path: DocumentPath, of version: EncodedDocument, stating statedTime: Timestamp) -> Bool {
        state.withLock { state in
            guard let follower = state.followers[path] else { return false }
            return follower.commitTime == version.updateTime && follower.statedTime == statedTime
        }
    }

    /// Logs that an edit could not be given the name of a rejected one.
    func reportUnnamed(_ file: String, of path: DocumentPath, _ error: FileSystemError) {
        logger.error(
            "A file was edited while its document changed, and could not be renamed. Save it before the server is started again",
            metadata: ["file.path": "\(file)", "document.path": "\(path)", "error": "\(error)"]
        )
    }

    /// Replaces the rejected edits and the foreign entries in and below a folder by those that a listing has found.
    func replace(in location: DocumentLocation, withRejected rejected: [RejectedEdit], foreign: [ForeignEntry]) {
        state.withLock { state in
            state.removeEntries(in: location)
            for edit in rejected { state.insert(.rejected(edit)) }
            for entry in foreign { state.insert(.foreign(entry)) }
        }
    }

    /// The number of removed files that wait until a person has accepted their deletion, or put them back; 0 if there are none.
    var removedFileCount: Int {
        get { state.withLock(\.removedFileCount) }
        set { state.withLock { $0.removedFileCount = newValue } }
    }

    /// Describes the problems, in the order of their files. Reads the files of those.
    func report(limit: Int, in files: DocumentFiles) throws(StatusError) -> FileProblemReport {
        let state = state.withLock(\.self)
        let removedFileCount = state.removedFileCount
        var problems: [FileProblem] = []
        if removedFileCount > 0 { problems.append(.removedFiles(removedFileCount)) }
        let candidates = state.problems.map { file, problem in
            switch file {
            case .document(let document): (path: files.filePath(of: document), problem: problem)
            case .entry(let location, let name):
                (path: files.folders.filePath(of: ForeignEntry(location: location, name: name)), problem: problem)
            }
        }
        for (path, problem) in candidates.sorted(by: { $0.path < $1.path }) where problems.count < limit {
            if let described = try described(problem, in: path, files) {
                problems.append(described)
            } else {
                self.state.withLock { $0.remove(problem.file) }
            }
        }
        return FileProblemReport(problems: problems, count: count)
    }

    /// Describes a problem; `nil` if there is none any more.
    private func described(_ problem: Problem, in path: String, _ files: DocumentFiles) throws(StatusError) -> FileProblem? {
        switch problem {
        case .rejected(let edit): return try files.problem(of: edit, in: path)
        case .damaged(let document): return try files.problem(of: document, in: path)
        case .waiting(let document, let error):
            let message = "The edit is not a commit yet, and is tried again: \(error.message)"
            return FileProblem(.waiting, message, document: document, file: error.file ?? StatusError.FileLocation(path: path))
        case .foreign(let entry):
            return try files.folders.fault(of: entry).map { fault in
                FileProblem(.foreign, fault, file: StatusError.FileLocation(path: path))
            }
        }
    }
}

extension DocumentFiles {
    /// Describes a rejected edit; `nil` if its file is gone.
    fileprivate func problem(of edit: RejectedEdit, in filePath: String) throws(StatusError) -> FileProblem? {
        guard let folder = try folders.open(edit.collection.segments),
            let status = try reporting(
                "get the status of",
                filePath,
                { () throws(FileSystemError) in try folder.status(of: edit.name) }
            )
        else { return nil }
        let id: DocumentPath.ID? =
            if case .id(let key) = folders.naming.parse(file: Array(edit.documentFile.utf8)) {
                try? DocumentPath.ID(key.string)
            } else {
                nil
            }
        var location = StatusError.FileLocation(path: filePath)
        var message: String
        switch edit.reason {
        case .conflict:
            message = """
                The file was edited on the basis of an earlier version of the document, and the same fields have changed since. Copy \
                what is missing to \(edit.documentFile), then remove this file.
                """
        case .invalid:
            message = "The file is a document, but was refused when it was edited."
            do throws(StatusError) {
                _ = try edited(edit.name, id: id, in: edit.collection, folder)
            } catch {
                guard error.affectsSingleFile else { throw error }
                message = error.message
                location = error.file ?? location
            }
            message += " To use it, rename it to \(edit.documentFile) once it is correct; otherwise remove it."
        }
        let kind: FileProblem.Kind =
            switch edit.reason {
            case .invalid: .rejected
            case .conflict: .conflict
            }
        let time = try? Timestamp(microseconds: status.identity.modifiedMicroseconds)
        return FileProblem(kind, message, document: id.map(edit.collection.document), file: location, time: time)
    }

    /// Describes the damage of a document's file; `nil` if it can be read, or is gone.
    fileprivate func problem(of path: DocumentPath, in filePath: String) throws(StatusError) -> FileProblem? {
        do throws(StatusError) {
            _ = try document(at: path)
            return nil
        } catch {
            guard error.affectsSingleFile else { throw error }
            let location = error.file ?? StatusError.FileLocation(path: filePath)
            return FileProblem(.damaged, error.message, document: path, file: location)
        }
    }
}

extension FileProblem {
    fileprivate static func removedFiles(_ count: Int) -> FileProblem {
        FileProblem(
            .removed,
            """
            \(count) document files were removed at once, too many to take them for deletions. Put the files back; or accept that the \
            documents are deleted (files.acceptRemoved).
            """,
            file: StatusError.FileLocation(path: DataFolder.documentsName)
        )
    }
}
