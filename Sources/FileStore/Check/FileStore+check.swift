internal import DocumentIndex
package import DocumentModel
package import DocumentStore
internal import Journal
internal import StorageIO

/// The thoroughness of a check.
package enum CheckDepth: Sendable {
    /// Compares the index with each document, and looks at a sample of its pages.
    case documents
    /// Reads the entire index in addition.
    case complete
}

extension FileStore {
    /// Checks all documents, the journal, the receipts of commits and the index of a data folder that is not open, without changing
    /// anything.
    ///
    /// - Parameters:
    ///   - folder: The data folder.
    ///   - identity: The identity that the folder must have.
    ///   - depth: The thoroughness.
    ///   - onFinding: Called with each finding.
    ///   - onProgress: Called repeatedly.
    /// - Returns: The totals.
    /// - Throws: `.failedPrecondition` when the folder is not a data folder of this version, or in use; `.dataLoss` when its
    ///   manifest is damaged; `.unavailable` when it cannot be read.
    package static func check(
        _ folder: String,
        as identity: DatabaseIdentity = DatabaseIdentity(),
        depth: CheckDepth = .complete,
        onFinding: @escaping @Sendable (CheckFinding) -> Void,
        onProgress: @escaping @Sendable (CheckProgress) -> Void = { _ in }
    ) async throws(StatusError) -> CheckReport {
        try await WorkQueue(label: "hearth.check", width: 1).run { () throws(StatusError) in
            var reporter = CheckReporter(onFinding: onFinding, onProgress: onProgress)
            let data = try DataFolder.inspect(folder)
            defer { data.unlock() }
            try data.manifest.check(identity)
            let index = index(of: data, folder: folder, &reporter)
            // They are read while the journal is checked.
            let digest = index.map { index in BackgroundRead(label: "hearth.check.index.documents") { index.readDigest() } }
            let totals = depth == .complete ? index.map { IndexTotalsReader($0) } : nil
            // The folder stays locked as long as the index is read.
            defer { _ = digest?.wait() }
            var journal = JournalCheck(data.manifest, documentCount: index?.documentCount)
            if try data.contains(Journal.folderName) {
                try journal.run(in: data.openJournal(), &reporter)
            } else if !data.manifest.isClean {
                let fault = "The journal is missing: commits after \(data.manifest.sequence) may be lost."
                reporter.add(.damagedJournal(fault, Journal.folderName, isNeeded: false))
            } else {
                journal.reportMissingHistory(&reporter)
            }
            checkReceipts(in: data, last: max(data.manifest.sequence, journal.last?.sequence ?? .zero), &reporter)
            var documents = try DocumentCheck(
                data,
                journal: journal,
                index: index,
                digest: digest?.wait { reporter.reportProgress() },
                totals: totals,
                stored: storedDocuments(in: data, journal, &reporter)
            )
            try documents.run(&reporter)
            return reporter.report
        }
    }

    /// Opens the index; `nil` if there is none, or it cannot be opened, which is reported.
    private static func index(of data: DataFolder, folder: String, _ reporter: inout CheckReporter) -> IndexCheck? {
        do throws(StatusError) {
            if let fault = try IndexCheck.typeFault(in: data) {
                reporter.add(CheckFinding(fault))
                return nil
            }
            // The next startup verifies the index of a database that was not closed.
            guard data.manifest.isClean else { return nil }
            return try IndexCheck(in: data, folderPath: folder, at: data.manifest.sequence)
        } catch {
            reporter.add(CheckFinding(.damaged("it cannot be opened (\(error.code))")))
            return nil
        }
    }

    /// Reads the receipts of commits; reports a damaged or foreign file.
    ///
    /// - Parameter last: The last commit of the database.
    private static func checkReceipts(in data: DataFolder, last: SequenceNumber, _ reporter: inout CheckReporter) {
        do throws(StatusError) {
            let receipts = try StoredReceipts.read(in: data)
            let mismatch = StoredReceipts.mismatch(of: receipts.storedSequence, with: data.manifest, last: last)
            if let mismatch { throw mismatch }
        } catch {
            let advice =
                "A repair, or the next startup, sets it aside and uses the receipts in the journal: a commit from before the journal that "
                + "is sent again may be refused, or applied twice."
            reporter.add(CheckFinding(error, .damagedReceipts, advice: advice, file: StoredReceipts.fileName))
        }
    }

    /// Reads the documents that are stored outside of their files, but for those that recovery brings to a later state; reports a damaged
    /// file.
    private static func storedDocuments(
        in data: DataFolder,
        _ journal: JournalCheck,
        _ reporter: inout CheckReporter
    ) -> [DocumentPath: QuarantinedDocument] {
        do throws(StatusError) {
            let documents = try QuarantinedDocuments(data).read().filter { document in
                guard let change = journal.changes[document.path], change.time > document.time else { return true }
                return !journal.isRecoverable(change)
            }
            return Dictionary(documents.map { ($0.path, $0) }) { $1 }
        } catch {
            reporter.add(CheckFinding(error, file: DataFolder.quarantineName))
            return [:]
        }
    }
}
