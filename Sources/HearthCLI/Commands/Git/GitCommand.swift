import ArgumentParser

/// `hearth git`
struct GitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "git",
        abstract: "Keep documents in git.",
        discussion: """
            `hearth git init` makes a git repository of the document files, in which histories have the fields of documents without \
            their times, and merges are made field by field. What git does to the files of a running server becomes \
            commits of the database.
            """,
        subcommands: [InitGitCommand.self, CommitGitCommand.self, MergeGitCommand.self, FilterGitCommand.self]
    )
}
