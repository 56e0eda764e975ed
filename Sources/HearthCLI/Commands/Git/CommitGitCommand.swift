import ArgumentParser
import DocumentModel
import StorageIO

extension GitCommand {
    /// `hearth git commit`
    struct CommitGitCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "commit",
            abstract: "Commit the documents that have changed to git, once or at an interval.",
            discussion: """
                Makes a git commit of all documents that have changed since the last one, in each database with a repository, if \
                there are any. The message names the first 20. With --every, does so until it is stopped, and reports failures: \
                the next commit has what one could not.
                """
        )

        @Option(help: ArgumentHelp("Data folder.", valueName: "dir"), completion: .directory)
        var data = "data"

        @Option(
            help: ArgumentHelp(
                "Time between commits, such as 30s, 10m or 1h; the default is a single commit.",
                valueName: "time"
            ),
            transform: Self.interval
        )
        var every: Duration?

        @Option(
            help: ArgumentHelp(
                "Author, as 'NAME <ADDRESS>'; the default is the user whom git is configured with.",
                valueName: "author"
            )
        )
        var author: String?

        private static func interval(_ text: String) throws -> Duration {
            let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600]
            guard let unit = text.last.flatMap({ units[$0] }), let count = Int(text.dropLast()), (1...86_400).contains(count)
            else {
                throw ValidationError("--every: expected a time such as 30s, 10m or 1h.")
            }
            return .seconds(count * unit)
        }

        func run() async throws {
            let queue = WorkQueue(label: "hearth.git", width: 1)
            guard let every else { return try await queue.run { () throws(StatusError) in try commit() } }
            do {
                try await TerminationSignal.cancelOnReceipt {
                    while true {
                        do {
                            try await queue.run { () throws(StatusError) in try commit() }
                        } catch let error as StatusError {
                            Console.standardError.report(error)
                        }
                        try await Task.sleep(for: every)
                    }
                }
            } catch is TerminationSignal {}
        }

        /// Makes a commit in each repository.
        ///
        /// - Throws: The last error, after the other repositories; earlier ones are reported.
        private func commit() throws(StatusError) {
            var failure: StatusError?
            for folder in try GitFolders(inDataFolder: data).paths {
                do throws(StatusError) {
                    try commit(in: folder)
                } catch {
                    if let failure { Console.standardError.report(failure) }
                    failure = error
                }
            }
            if let failure { throw failure }
        }

        private func commit(in folder: String) throws(StatusError) {
            let setup = GitSetup(folder: folder)
            guard setup.isRepository else { return }
            setup.applyGroupAccess()
            guard let commit = try GitCommit(in: folder, author: author) else { return }
            var output = BufferedOutput.standard()
            try output.writeLine(commit.message.utf8.prefix { $0 != UInt8(ascii: "\n") })
            try output.flush()
        }
    }
}
