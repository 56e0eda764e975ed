internal import DocumentIndex
package import DocumentModel

/// A fault or notable difference found by a check of a data folder.
package struct CheckFinding: Hashable, Sendable {
    /// The kind of a finding.
    package enum Kind: String, Sendable, CaseIterable {
        /// The file is not a readable document.
        case damagedDocument
        /// The file or folder cannot be opened or read.
        case unreadable
        /// The name is not that of a document or collection, or the entry is neither a file nor a folder.
        case foreignName
        /// A temporary file was left behind, usually by a crash.
        case temporary
        /// The document differs from its last committed version.
        case outdatedDocument
        /// The document's update time is later than the last commit.
        case futureUpdateTime
        /// The journal is damaged or incomplete.
        case damagedJournal
        /// The receipts of commits are damaged, missing, or those of another data folder.
        case damagedReceipts
        /// The index entries of a document differ from its file, as after an edit, or are missing.
        case outdatedIndex
        /// The index is damaged or unreadable.
        case damagedIndex
        /// The database was not closed. The next startup, or a repair, recovers it from the journal.
        case notClosed
        /// The file has been edited since the last commit of the document. Not a fault.
        case edited
        /// The file keeps the text of an edit, and the document is stored outside of it. Not a fault.
        case keptText
        /// The journal of a database that was closed has no segments, usually because they were deleted. Not a fault.
        case missingHistory
        /// The file or folder is not a document or a collection, and cannot be confused with one. Not a fault.
        case ignored
    }

    /// The kind.
    package let kind: Kind
    /// The description: the expected state, the actual state, and what to do.
    package let message: String
    /// The message without the advice.
    package let fault: String
    /// The path of the affected document or collection.
    package let path: String?
    /// The affected file or folder, relative to the data folder, with a line and column if known.
    package private(set) var file: StatusError.FileLocation
    /// The database; `nil` for the default database.
    package private(set) var database: DatabaseID?

    /// True for a notice, which is not a fault.
    package var isNotice: Bool {
        switch kind {
        case .edited, .keptText, .ignored, .missingHistory: true
        default: false
        }
    }

    /// - Parameter advice: What to do, if `fault` doesn't say it.
    init(_ kind: Kind, _ fault: String, advice: String? = nil, path: String? = nil, file: String) {
        self.kind = kind
        self.fault = fault
        message = advice.map { "\(fault) \($0)" } ?? fault
        self.path = path
        self.file = StatusError.FileLocation(path: file)
    }

    /// Creates the finding for a file that could not be read.
    ///
    /// - Parameters:
    ///   - damage: The kind if its contents are damaged.
    ///   - advice: What to do then, if the error doesn't say it.
    init(_ error: StatusError, _ damage: Kind = .damagedDocument, advice: String? = nil, file: String) {
        let isDamaged = error.code == .dataLoss
        kind = isDamaged ? damage : .unreadable
        fault = error.message
        message = isDamaged ? advice.map { "\(error.message) \($0)" } ?? error.message : error.message
        path = error.path
        self.file = error.file ?? StatusError.FileLocation(path: file)
    }
}

extension CheckFinding {
    /// Creates the finding for a fault of the index.
    init(_ fault: IndexCheck.Finding) {
        switch fault {
        case .damaged(let reason):
            self.init(.damagedIndex, "The index is damaged: \(reason). A repair rebuilds it.", file: IndexFile.name)
        case .damagedEntries(let reason):
            self.init(
                .damagedIndex,
                "The index is damaged: \(reason). Run hearth check --repair --rebuild-index, or delete the file: the next "
                    + "startup rebuilds it.",
                file: IndexFile.name
            )
        case .outdated(let documents, first: let path, let file):
            self.init(
                .outdatedIndex,
                "The index does not match the files of \(documents), so queries may not find them. The file named here is "
                    + "the first of them. A repair rebuilds the index.",
                path: path.string,
                file: file
            )
        }
    }

    /// Returns the finding with its file relative to the data folder that contains the database's folder.
    func inFolder(_ folder: String, of database: DatabaseID) -> CheckFinding {
        var finding = self
        let path = folder + "/" + file.path
        finding.database = database
        if let line = file.line, let column = file.column {
            finding.file = StatusError.FileLocation(path: path, line: line, column: column)
        } else {
            finding.file = StatusError.FileLocation(path: path)
        }
        return finding
    }
}

/// The totals of a check.
package struct CheckReport: Hashable, Sendable {
    /// The number of readable documents.
    package internal(set) var documents = 0
    /// The number of collections with readable documents.
    package internal(set) var collections = 0
    /// The total size of their files.
    package internal(set) var documentBytes = 0
    /// The number of journal segments.
    package internal(set) var segments = 0
    /// The number of commits in the journal.
    package internal(set) var commits = 0
    /// The journal's size.
    package internal(set) var journalBytes = 0
    /// The number of findings, excluding notices.
    package var findings = 0
    /// The number of notices.
    package var notices: Int { editedDocuments + keptTexts + ignoredEntries + missingHistories }
    /// The number of documents that were edited since their last commit.
    package internal(set) var editedDocuments = 0
    /// The number of documents whose files keep the texts of edits.
    package internal(set) var keptTexts = 0
    /// The number of ignored files and folders among the documents.
    package internal(set) var ignoredEntries = 0
    /// The number of databases without a history.
    package internal(set) var missingHistories = 0
    /// True if the index was compared with the documents, without a finding.
    package internal(set) var isIndexIntact = false
    /// The latest update time of the documents that is not in the future; `nil` without documents.
    var latestUpdateTime: Timestamp?

    /// Creates an empty report.
    package init() {}
}

/// The progress of a check.
package struct CheckProgress: Sendable {
    /// The totals so far.
    package let report: CheckReport
    /// The expected number of documents, according to the index; `nil` if it is unknown.
    package let expectedDocuments: Int?
}

extension CheckReport {
    /// Adds the totals of another check.
    package static func += (left: inout CheckReport, right: CheckReport) {
        left.documents += right.documents
        left.collections += right.collections
        left.documentBytes += right.documentBytes
        left.segments += right.segments
        left.commits += right.commits
        left.journalBytes += right.journalBytes
        left.findings += right.findings
        left.editedDocuments += right.editedDocuments
        left.keptTexts += right.keptTexts
        left.ignoredEntries += right.ignoredEntries
        left.missingHistories += right.missingHistories
        left.isIndexIntact = left.isIndexIntact && right.isIndexIntact
    }
}
