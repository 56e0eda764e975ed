internal import DocumentModel
internal import DocumentStore
internal import Logging
internal import StorageIO
internal import Synchronization
internal import UTF8Text

/// The edits of files that need a person: rejected ones, document files that cannot be read, and removed files that are not taken
/// for deletions.
///
/// Rejected edits are known by the names of their files, which are found again when the store is opened.
final class EditProblems: Sendable {
    private struct State {
        var rejected: Set<RejectedEdit> = []
        var damaged: Set<DocumentPath> = []
        var removedFileCount = 0
    }

    private let state = Mutex(State())
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    /// The maximum number of files that are remembered.
    private static let maximumCount = 10_000

    /// The number of problems.
    var count: Int {
        state.withLock { $0.rejected.count + $0.damaged.count + ($0.removedFileCount > 0 ? 1 : 0) }
    }

    /// Records that there is a file with a rejected edit.
    func insert(_ edit: RejectedEdit) {
        state.withLock { state in
            if state.rejected.count < Self.maximumCount { state.rejected.insert(edit) }
        }
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
        state.withLock { state in _ = state.rejected.remove(edit) }
    }

    /// Records that the file of a document cannot be read, and that its last version is not known.
    ///
    /// - Returns: `false` if that was recorded before.
    func insertDamaged(_ path: DocumentPath) -> Bool {
        state.withLock { state in
            state.damaged.count < Self.maximumCount && state.damaged.insert(path).inserted
        }
    }

    /// Returns whether one of the documents is known to have a file that cannot be read.
    func hasDamaged(_ paths: some Sequence<DocumentPath>) -> Bool {
        state.withLock { state in !state.damaged.isEmpty && paths.contains(where: state.damaged.contains) }
    }

    /// Records that the files of documents can be read, or are gone.
    func removeDamaged(_ paths: some Sequence<DocumentPath>) {
        state.withLock { state in
            if !state.damaged.isEmpty { state.damaged.subtract(paths) }
        }
    }

    /// Logs that an edit could not be given the name of a rejected one.
    func reportUnnamed(_ file: String, of path: DocumentPath, _ error: FileSystemError) {
        logger.error(
            "A file was edited while its document changed, and could not be renamed. Save it before the server is started again",
            metadata: ["file.path": "\(file)", "document.path": "\(path)", "error": "\(error)"]
        )
    }

    /// Replaces the rejected edits in and below a folder by those that a listing has found.
    func replaceRejected(in location: DocumentLocation, with found: [RejectedEdit]) {
        state.withLock { state in
            if !state.rejected.isEmpty {
                state.rejected = state.rejected.filter { !location.contains(.collection($0.collection)) }
            }
            state.rejected.formUnion(found.prefix(Self.maximumCount - state.rejected.count))
        }
    }

    /// The number of removed files that wait until a person has accepted their deletion, or put them back; 0 if there are none.
    var removedFileCount: Int {
        get { state.withLock(\.removedFileCount) }
        set { state.withLock { $0.removedFileCount = newValue } }
    }

    /// Describes the problems, in the order of their files. Reads the files of those.
    func report(limit: Int, in files: DocumentFiles) throws(StatusError) -> FileProblemReport {
        let (rejected, damaged, removedFileCount) = state.withLock { ($0.rejected, $0.damaged, $0.removedFileCount) }
        var problems: [FileProblem] = []
        if removedFileCount > 0 { problems.append(.removedFiles(removedFileCount)) }
        let candidates =
            rejected.map { (file: files.filePath($0.name, in: $0.collection), candidate: Candidate.rejected($0)) }
            + damaged.map { (file: files.filePath(of: $0), candidate: Candidate.damaged($0)) }
        for (file, candidate) in candidates.sorted(by: { $0.file < $1.file }) where problems.count < limit {
            switch candidate {
            case .rejected(let edit):
                if let problem = try files.problem(of: edit, in: file) { problems.append(problem) } else { remove(edit) }
            case .damaged(let path):
                if let problem = try files.problem(of: path, in: file) { problems.append(problem) } else { removeDamaged([path]) }
            }
        }
        return FileProblemReport(problems: problems, count: count)
    }

    private enum Candidate {
        case rejected(RejectedEdit)
        case damaged(DocumentPath)
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
