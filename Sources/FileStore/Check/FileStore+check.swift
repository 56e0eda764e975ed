internal import DocumentIndex
package import DocumentModel
package import DocumentStore
internal import Journal
package import Logging
internal import StorageIO

extension FileStore {
    /// Checks all documents, the journal and the index of a data folder that is not open, without changing anything.
    ///
    /// - Parameters:
    ///   - folder: The data folder.
    ///   - identity: The identity that the folder must have.
    ///   - onFinding: Called with each finding.
    ///   - onProgress: Called repeatedly with the totals so far.
    /// - Returns: The totals.
    /// - Throws: `.failedPrecondition` when the folder is not a data folder of this version, or in use; `.dataLoss` when its
    ///   manifest is damaged; `.unavailable` when it can't be read.
    package static func check(
        _ folder: String,
        as identity: DatabaseIdentity = DatabaseIdentity(),
        onFinding: @escaping @Sendable (CheckFinding) -> Void,
        onProgress: @escaping @Sendable (CheckReport) -> Void = { _ in }
    ) async throws(StatusError) -> CheckReport {
        try await WorkQueue(label: "hearth.check", width: 1).run { () throws(StatusError) in
            var reporter = CheckReporter(onFinding: onFinding, onProgress: onProgress)
            let data = try DataFolder.inspect(folder)
            defer { data.unlock() }
            try identity.check(data.manifest)
            var journal = JournalCheck(data.manifest)
            try journal.run(in: data.openJournal(), &reporter)
            var documents = DocumentCheck(data, journal: journal, index: index(of: data, folder: folder, &reporter))
            try documents.run(&reporter)
            return reporter.report
        }
    }

    /// Opens the index; nil if there is none, or it can't be opened, which is reported.
    private static func index(of data: DataFolder, folder: String, _ reporter: inout CheckReporter) -> IndexCheck? {
        // The next start verifies the index of a database that was not closed.
        guard data.manifest.isClean else { return nil }
        do throws(StatusError) {
            return try IndexCheck(in: data, folderPath: folder, at: data.manifest.sequence)
        } catch {
            reporter.add(CheckFinding(.damaged("it can't be opened (\(error.code))")))
            return nil
        }
    }

    /// Repairs a data folder without losing user data: recovers a database that was not closed, removes temporary files and
    /// damaged journal segments, and rebuilds the index. Damaged documents are left unchanged.
    ///
    /// - Parameters:
    ///   - folder: A data folder that ``check(_:as:onFinding:onProgress:)`` can read.
    ///   - identity: The identity that the folder must have.
    ///   - onProgress: Called repeatedly with the number of indexed documents.
    /// - Throws: The errors of ``open(_:logger:)``; `.unavailable` or `.resourceExhausted` when the index can't be built.
    package static func repair(
        _ folder: String,
        as identity: DatabaseIdentity = DatabaseIdentity(),
        logger: Logger,
        onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws(StatusError) {
        var configuration = FileStoreConfiguration(folder: folder)
        configuration.identity = identity
        configuration.rebuildsIndex = true
        let store = try await open(configuration, logger: logger)
        let (data, components) = (store.data, store.components)
        let repairError: StatusError?
        do throws(StatusError) {
            try await store.scanQueue.run { () throws(StatusError) in
                var sweep = TemporaryFileSweep()
                try sweep.run(in: data.documents, DataFolder.documentsName)
                // While documents are quarantined, the journal is needed.
                guard data.manifest.isClean else { return }
                try components.history.journal.removeDamaged(before: components.feed.position.lastSequence.next)
            }
            try await store.waitUntilIndexed(onProgress: onProgress)
            repairError = nil
        } catch {
            repairError = error
        }
        if let failure = await store.close() ?? repairError { throw failure }
    }
}
