import ArgumentParser
import DocumentModel
import FileStore

/// The options of `hearth serve` for edits of document files by other programs.
struct ServeFolderEditOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo,
        help: """
            Make commits of edits of document files by editors and other programs, while the server runs and since its last stop.
            """
    )
    var folderEdits = true

    @Option(help: ArgumentHelp("Time for which an edited file must be left alone before it becomes a commit.", valueName: "ms"))
    var folderEditQuietMs = 200

    @Option(
        help: ArgumentHelp(
            "Number of files removed within ten seconds up to which they are deletions; more of them change nothing.",
            valueName: "count"
        )
    )
    var folderEditDeletions = 1_000

    @Flag(
        help: """
            Leave the text of an edited file as it is until the next commit of its document by a call, or until the server stops.
            """
    )
    var folderEditKeepText = false

    @Flag(
        help: """
            Permit edits of files only as the security rules of the database do, with the owner of the file as the end user file:NAME.
            """
    )
    var folderEditRules = false

    func validate() throws {
        guard (10...60_000).contains(folderEditQuietMs) else {
            throw ValidationError("--folder-edit-quiet-ms must be between 10 and 60000.")
        }
        guard (0...1_000_000_000).contains(folderEditDeletions) else {
            throw ValidationError("--folder-edit-deletions must be between 0 and 1000000000.")
        }
    }

    /// Applies the options to the store configuration.
    func apply(to configuration: inout FileStoreConfiguration, rules: EditRules) {
        configuration.takesFolderEdits = folderEdits
        configuration.folderEditQuietTime = .milliseconds(folderEditQuietMs)
        configuration.maximumFolderDeletions = folderEditDeletions
        configuration.keepsFolderEditTexts = folderEditKeepText
        if folderEditRules {
            configuration.folderEditAuthorization = { database, user throws(StatusError) in
                try await rules.authorization(in: database, for: user)
            }
        }
    }
}
