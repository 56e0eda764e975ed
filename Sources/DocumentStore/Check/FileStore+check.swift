package import DocumentModel
package import Logging

extension FileStore {
    /// Reads everything in a data folder that no server has open, and reports what is not as it should be. Changes nothing.
    ///
    /// - Parameters:
    ///   - folder: The data folder.
    ///   - identity: Which database it is.
    ///   - onFinding: Called with each finding as it is found.
    ///   - onProgress: Called now and then with what has been looked at so far.
    /// - Returns: What was looked at.
    /// - Throws: `.failedPrecondition` when the folder is no data folder of this Hearth or in use; `.dataLoss` when its
    ///   description is damaged; `.unavailable` when it can't be read.
    package static func check(
        _ folder: String,
        as identity: DatabaseIdentity = DatabaseIdentity(),
        onFinding: @escaping @Sendable (CheckFinding) -> Void,
        onProgress: @escaping @Sendable (CheckReport) -> Void = { _ in }
    ) async throws(StatusError) -> CheckReport {
        try await WorkQueue(label: "hearth.check", width: 1).run { () throws(StatusError) in
            var log = CheckLog(onFinding: onFinding, onProgress: onProgress)
            let data = try DataFolder.inspect(folder)
            defer { data.unlock() }
            try identity.check(data.description)
            var journal = JournalCheck(data.description)
            try journal.run(in: data.openJournal(), &log)
            var documents = DocumentCheck(data, journal: journal, index: index(of: data, folder: folder, &log))
            try documents.run(&log)
            return log.report
        }
    }

    /// The index to compare; nil where there is none, and where it can't be opened, which is reported.
    private static func index(of data: DataFolder, folder: String, _ log: inout CheckLog) -> IndexCheck? {
        do throws(StatusError) {
            return try IndexCheck(data, folder: folder)
        } catch {
            log.add(.damagedIndex("it can't be opened (\(error.code))"))
            return nil
        }
    }

    /// Repairs what can be repaired without losing anything that a person wrote: brings the files of a database that was not
    /// closed to where the journal says they were, removes unfinished files and what can't be told any more of the documents'
    /// history, and makes the index anew. Damaged documents stay as they are.
    ///
    /// - Parameters:
    ///   - folder: A data folder that ``check(_:as:onFinding:onProgress:)`` could read.
    ///   - identity: Which database it is.
    ///   - onProgress: Called now and then with the number of documents in the new index.
    /// - Throws: What ``open(_:logger:)`` throws, and `.unavailable` or `.resourceExhausted` when the index can't be made.
    package static func repair(
        _ folder: String,
        as identity: DatabaseIdentity = DatabaseIdentity(),
        logger: Logger,
        onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws(StatusError) {
        var configuration = FileStoreConfiguration(folder: folder)
        configuration.identity = identity
        configuration.remakesIndex = true
        let store = try await open(configuration, logger: logger)
        let (data, parts) = (store.data, store.parts)
        let swept: StatusError?
        do throws(StatusError) {
            try await store.listers.run { () throws(StatusError) in
                var sweep = TemporarySweep()
                try sweep.run(in: data.documents, DataFolder.documentsName)
                // As long as a file is behind, none of the journal may go.
                guard data.description.isClean else { return }
                try parts.history.journal.removeDamaged(before: parts.feed.position.lastSequence.next)
            }
            try await store.waitUntilIndexed(onProgress: onProgress)
            swept = nil
        } catch {
            swept = error
        }
        if let failure = await store.close() ?? swept { throw failure }
    }
}
