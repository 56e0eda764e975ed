package import DocumentModel

/// An edit of a file that has not become a commit, and needs a person.
package struct FileProblem: Hashable, Sendable {
    /// The kind of a problem.
    package enum Kind: String, Sendable, CaseIterable {
        /// The file beside a document has an edit that is not a valid document.
        case rejected
        /// The file beside a document has an edit of fields that a later commit has changed as well.
        case conflict
        /// The file of a document cannot be read, and its last version is not known.
        case damaged
        /// More files were removed at once than are taken for deletions.
        case removed
        /// The edit cannot become a commit at present, for example for lack of rights, and is tried again.
        case waiting
        /// The entry is neither a document nor a folder of documents, for example a symbolic link.
        case foreign
    }

    /// The kind.
    package let kind: Kind
    /// The problem, and what to do.
    package let message: String
    /// The document; `nil` if the problem is not about one, or its ID is not in the name of the file.
    package let document: DocumentPath?
    /// The file, with line and column if they are known; for removed files their folder.
    package let file: StatusError.FileLocation
    /// The modification time of the file; `nil` if it is not known.
    package let time: Timestamp?

    package init(
        _ kind: Kind,
        _ message: String,
        document: DocumentPath? = nil,
        file: StatusError.FileLocation,
        time: Timestamp? = nil
    ) {
        self.kind = kind
        self.message = message
        self.document = document
        self.file = file
        self.time = time
    }
}

/// The problems with edits of files.
package struct FileProblemReport: Sendable {
    /// The first problems, in the order of their files.
    package let problems: [FileProblem]
    /// The number of all problems. Beyond 10,000, further ones are not counted.
    package let count: Int

    package init(problems: [FileProblem] = [], count: Int = 0) {
        self.problems = problems
        self.count = count
    }
}
