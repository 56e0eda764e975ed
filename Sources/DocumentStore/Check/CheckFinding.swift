package import DocumentModel

/// Something in a data folder that is not as it should be.
package struct CheckFinding: Hashable, Sendable {
    /// What kind of thing it is.
    package enum Kind: String, Sendable, CaseIterable {
        /// A document's file can't be read as one.
        case damagedDocument
        /// A file or folder can't be opened or read.
        case unreadable
        /// A name that no document or collection has, or something that is neither file nor folder.
        case foreignName
        /// An unfinished file that was left behind, by a crash mostly.
        case temporary
        /// A document is not the one that the last commit of it made.
        case outdatedDocument
        /// A document's update time is later than the last commit.
        case futureUpdateTime
        /// The journal can't be read where it should be readable.
        case damagedJournal
        /// The index has a document otherwise than its file, as after an edit, or lacks it.
        case outdatedIndex
        /// The index is not right as a whole.
        case damagedIndex
        /// The database was not closed: its next start, or a repair, brings the files to where the journal says they were.
        case notClosed
        /// A document was edited in its file since it was committed. That is no fault.
        case edited
    }

    /// What kind of thing it is.
    package let kind: Kind
    /// What was expected, what was found, and what to do.
    package let message: String
    /// The document or collection concerned.
    package let path: String?
    /// The file or folder concerned, relative to the data folder, and the place in it where there is one.
    package private(set) var file: StatusError.FileLocation
    /// The database that the folder is of; nil for the default one.
    package private(set) var database: DatabaseID?

    /// Whether it is merely worth knowing.
    package var isNotice: Bool { kind == .edited }

    init(_ kind: Kind, _ message: String, path: String? = nil, file: String) {
        self.kind = kind
        self.message = message
        self.path = path
        self.file = StatusError.FileLocation(path: file)
    }

    /// What could not be read.
    init(_ error: StatusError, file: String) {
        kind = error.code == .dataLoss ? .damagedDocument : .unreadable
        message = error.message
        path = error.path
        self.file = error.file ?? StatusError.FileLocation(path: file)
    }
}

extension CheckFinding {
    /// The same finding as seen from the data folder in which the database has a folder of its own.
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

/// What a check has looked at.
package struct CheckReport: Hashable, Sendable {
    /// How many documents could be read.
    package internal(set) var documents = 0
    /// How many collections they are in.
    package internal(set) var collections = 0
    /// How many bytes their files have.
    package internal(set) var documentBytes = 0
    /// How many segments the journal has.
    package internal(set) var segments = 0
    /// How many commits are in them.
    package internal(set) var commits = 0
    /// How many bytes they have.
    package internal(set) var journalBytes = 0
    /// How many findings there were, notices not counted.
    package var findings = 0
    /// How many notices there were.
    package internal(set) var notices = 0

    /// Makes an empty report.
    package init() {}
}

extension CheckReport {
    /// Adds what another check has looked at.
    package static func += (left: inout CheckReport, right: CheckReport) {
        left.documents += right.documents
        left.collections += right.collections
        left.documentBytes += right.documentBytes
        left.segments += right.segments
        left.commits += right.commits
        left.journalBytes += right.journalBytes
        left.findings += right.findings
        left.notices += right.notices
    }
}
