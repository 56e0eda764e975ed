package import DocumentModel
package import Logging

extension FileStore {
    /// Reads everything in a data folder that no server has open, and reports what is not as it should be. Changes nothing.
    ///
    /// - Parameters:
    ///   - folder: The data folder.
    ///   - onFinding: Called with each finding as it is found.
    ///   - onProgress: Called now and then with what has been looked at so far.
    /// - Returns: What was looked at.
    /// - Throws: `.failedPrecondition` when the folder is no data folder of this Hearth or in use; `.dataLoss` when its
    ///   description is damaged; `.unavailable` when it can't be read.
    package static func check(
        _ folder: String,
        onFinding: @escaping @Sendable (CheckFinding) -> Void,
        onProgress: @escaping @Sendable (CheckReport) -> Void = { _ in }
    ) async throws(StatusError) -> CheckReport {
        try await WorkQueue(label: "hearth.check", width: 1).run { () throws(StatusError) in
            var log = CheckLog(onFinding: onFinding, onProgress: onProgress)
            let data = try DataFolder.inspect(folder)
            defer { data.unlock() }
            var journal = JournalCheck(data.description)
            try journal.run(in: data.openJournal(), &log)
            var documents = DocumentCheck(data, journal: journal)
            try documents.run(&log)
            return log.report
        }
    }

    /// Repairs what can be repaired without losing anything that a person wrote: brings the files of a database that was not
    /// closed to where the journal says they were, and removes unfinished files. Damaged documents stay as they are.
    ///
    /// - Parameter folder: A data folder that ``check(_:onFinding:onProgress:)`` could read.
    /// - Throws: What ``open(_:logger:)`` throws.
    package static func repair(_ folder: String, logger: Logger) async throws(StatusError) {
        let store = try await open(FileStoreConfiguration(folder: folder), logger: logger)
        let data = store.data
        let swept: StatusError?
        do throws(StatusError) {
            try await store.readers.run { () throws(StatusError) in
                var sweep = TemporarySweep()
                try sweep.run(in: data.documents, DataFolder.documentsName)
            }
            swept = nil
        } catch {
            swept = error
        }
        if let failure = await store.close() ?? swept { throw failure }
    }
}
