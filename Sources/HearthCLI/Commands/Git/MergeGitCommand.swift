import ArgumentParser
import DocumentModel
import Foundation

extension GitCommand {
    /// `hearth git merge`
    struct MergeGitCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "merge",
            abstract: "Merge two versions of a document, field by field; started by git.",
            discussion: """
                Writes the result to the second file. Exits with status 1 if both versions have changed a field: then the file has \
                markers around what differs. Files that are not documents are merged line by line. `hearth git init` configures it.
                """
        )

        @Argument(help: "The version that both have changed.", completion: .file())
        var base: String

        @Argument(help: "Our version, which the result replaces.", completion: .file())
        var ours: String

        @Argument(help: "Their version.", completion: .file())
        var theirs: String

        @Argument(help: "Length of the markers of conflicts.")
        var markerLength = 7

        @Argument(help: "Path of the document, for messages.")
        var path: String?

        /// The exit status for a failure: git takes those up to 128 for conflicts.
        private static let failure: Int32 = 129
        /// The maximum size of a version.
        private static let maximumBytes = 256 << 20

        func validate() throws {
            guard (1...1_000).contains(markerLength) else {
                throw ValidationError("The length of the markers must be between 1 and 1000.")
            }
        }

        func run() throws {
            let status: Int32
            do throws(StatusError) {
                status = try merge()
            } catch {
                Console.standardError.report(error)
                status = Self.failure
            }
            if status != 0 { throw ExitCode(status) }
        }

        /// Returns the exit status.
        private func merge() throws(StatusError) -> Int32 {
            let versions = (try read(ours), try read(theirs), try read(base))
            let merge: DocumentMerge
            do throws(StatusError) {
                merge = try DocumentMerge(ours: versions.0, theirs: versions.1, base: versions.2, markerLength: markerLength)
            } catch {
                let options = ["merge-file", "--marker-size=\(markerLength)", "-L", "ours", "-L", "base", "-L", "theirs"]
                return try GitProcess(options + [ours, base, theirs], in: ".").status
            }
            do {
                try Data(merge.text).write(to: URL(filePath: ours))
            } catch {
                throw StatusError(.unavailable, "Cannot write \(ours): \(error).", cause: error)
            }
            guard !merge.conflicts.isEmpty else { return 0 }
            let fields = merge.conflicts.map(\.description).joined(separator: ", ")
            Console.standardError.report("\(path ?? ours): both have changed \(fields)")
            return 1
        }

        private func read(_ path: String) throws(StatusError) -> [UInt8] {
            try InputFile(path, isRegular: true).readToEnd(maximumBytes: Self.maximumBytes)
        }
    }
}
