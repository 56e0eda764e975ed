internal import Dispatch
internal import DocumentModel
internal import Glibc
internal import Logging
internal import StorageIO
internal import Synchronization

/// A search for document files that were edited while the store was closed, in the background after it was opened.
///
/// Looks at the modification time of every file, and reads only those that are later than the last record of the store's state in
/// the manifest. A file is edited if its modification time is also later than the update time in it: the store sets the time of its
/// own files to that. Removed files are not noticed, nor are files that other programs gave an earlier time.
///
/// It uses one thread, and sleeps most of the time, so that the start of a large store is not slowed down.
final class EditedFileSearch: Sendable {
    private struct Result {
        var count = 0
        /// The paths of the first files, in the order of the listings.
        var first: [String] = []
    }

    private let files: DocumentFiles
    /// The modification time of the manifest when the store was opened, in microseconds since 1970.
    private let stopTime: Int64
    private let logger: Logger
    private let isStopped = Mutex(false)
    private let completion = DispatchGroup()

    /// The number of files between two pauses.
    private static let stepCount = 256
    /// The length of a pause, as a multiple of the time before it.
    private static let pauseRatio = 3.0
    /// The maximum number of paths in the log.
    private static let loggedCount = 5

    init(_ data: DataFolder, since stopTime: Int64, logger: Logger) {
        files = DocumentFiles(DocumentFolders(data), cache: DocumentCache(maximumBytes: 0), log: ApplyLog())
        self.stopTime = stopTime
        self.logger = logger
    }

    /// Starts to search.
    func start() {
        DispatchQueue(label: "hearth.edits", qos: .background).async(group: completion) { self.run() }
    }

    /// Ends the search without a log entry.
    func stop() {
        isStopped.withLock { $0 = true }
    }

    /// Waits for the end of the search.
    func wait() async {
        await withCheckedContinuation { continuation in
            completion.notify(queue: .global()) { continuation.resume() }
        }
    }

    private func run() {
        var result = Result()
        var step = Step()
        let walk = DocumentFolderWalk(folders: files.folders) { _, error throws(StatusError) in
            guard error.affectsSingleFile else { throw error }
        }
        do throws(StatusError) {
            try walk.forEachEntry { item, folder throws(StatusError) in
                try pauseIfDue(&step)
                guard case (.document(let id), .collection(let collection)) = (item.entry, item.location) else { return }
                let name = item.name
                guard isEdited(name, id: id, in: collection, folder) else { return }
                result.count += 1
                if result.first.count < Self.loggedCount { result.first.append(item.folderPath + "/" + name) }
            }
        } catch {
            // Cancelled, or the folder is unreadable, which reads report.
            return
        }
        guard result.count > 0 else { return }
        logger.warning(
            """
            Document files were edited while the server was stopped. Stop it and run hearth check --repair, so that queries and \
            sums include the edits
            """,
            metadata: [
                "store.edited_documents": "\(result.count)",
                "file.paths": "\(result.first.joined(separator: ", "))",
            ]
        )
    }

    private func isEdited(
        _ name: String,
        id: DocumentPath.ID?,
        in collection: CollectionPath,
        _ folder: borrowing FileDescriptor
    ) -> Bool {
        guard let modified = try? folder.status(of: name)?.identity.modifiedMicroseconds, modified > stopTime else {
            return false
        }
        do throws(StatusError) {
            guard let (document, _) = try files.decode(name, id: id, in: collection, folder) else { return false }
            return modified > document.updateTime.microseconds
        } catch {
            // Damaged since the stop.
            return error.code == .dataLoss
        }
    }

    /// The entries since the last pause.
    private struct Step {
        var start = ContinuousClock.now
        var count = 0
    }

    /// Sleeps after each step, for longer than it took.
    private func pauseIfDue(_ step: inout Step) throws(StatusError) {
        step.count += 1
        guard step.count >= Self.stepCount else { return }
        guard !isStopped.withLock({ $0 }) else { throw StatusError(.cancelled, "The store is being closed.") }
        let pause = min((ContinuousClock.now - step.start) * Self.pauseRatio, .seconds(1))
        usleep(UInt32(max(0, pause / .microseconds(1))))
        step = Step()
    }
}
