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
    /// Checks all documents, the journal and the index of a data folder that is not open, without changing anything.
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
            var documents = try DocumentCheck(
                data,
                journal: journal,
                index: index,
                digest: digest?.wait { reporter.reportProgress() },
                totals: totals,
                quarantined: quarantined(in: data, &reporter)
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

    /// Reads the paths of the quarantined documents; reports a damaged file.
    private static func quarantined(in data: DataFolder, _ reporter: inout CheckReporter) -> Set<DocumentPath> {
        do throws(StatusError) {
            return Set(try QuarantinedDocuments(data).read().map(\.path))
        } catch {
            reporter.add(CheckFinding(error, file: DataFolder.quarantineName))
            return []
        }
    }
}
