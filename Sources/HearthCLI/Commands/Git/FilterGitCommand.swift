import ArgumentParser

extension GitCommand {
    /// `hearth git filter`
    struct FilterGitCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "filter",
            abstract: "Leave the times of documents out of git's history; started by git.",
            discussion: """
                Speaks the protocol of long-running filters on standard input and output. Files that are not documents are not \
                changed. `hearth git init` configures it.
                """
        )

        @Flag(help: "Add a time to documents that git writes: in folders that a server uses.")
        var times = false

        func run() throws {
            var filter = GitFilter(try InputFile("-"), .standard(), addsTimes: times)
            try filter.run()
        }
    }
}
