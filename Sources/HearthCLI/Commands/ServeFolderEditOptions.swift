import ArgumentParser
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

    func validate() throws {
        guard (10...60_000).contains(folderEditQuietMs) else {
            throw ValidationError("--folder-edit-quiet-ms must be between 10 and 60000.")
        }
        guard (0...1_000_000_000).contains(folderEditDeletions) else {
            throw ValidationError("--folder-edit-deletions must be between 0 and 1000000000.")
        }
    }

    /// Applies the options to the store configuration.
    func apply(to configuration: inout FileStoreConfiguration) {
        configuration.takesFolderEdits = folderEdits
        configuration.folderEditQuietTime = .milliseconds(folderEditQuietMs)
        configuration.maximumFolderDeletions = folderEditDeletions
    }
}
