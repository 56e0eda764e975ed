import ArgumentParser

extension GitCommand {
    /// `hearth git init`
    struct InitGitCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init",
            abstract: "Make git repositories of the documents in a data folder, or set up a clone.",
            discussion: """
                Each database has a repository of its own, in its folder `documents`. The command writes to .gitignore, to \
                .gitattributes and to the configuration of the repository, and keeps what others have added to them; it may be run \
                again at any time, also while a server uses the folder. If the group may write the folder, it may use the repository.

                With --clone, sets up a clone of such a repository, so that its merges are made field by field.
                """
        )

        @Option(help: ArgumentHelp("Data folder.", valueName: "dir"), completion: .directory)
        var data = "data"

        @Option(help: ArgumentHelp("Set up this clone, instead of a data folder.", valueName: "dir"), completion: .directory)
        var clone: String?

        func run() throws {
            if let clone { return try GitSetup(folder: clone).setUpClone() }
            for folder in try GitFolders(inDataFolder: data).paths { try GitSetup(folder: folder).setUpDocuments() }
        }
    }
}
