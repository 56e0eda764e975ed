import DocumentModel
import Foundation
import UTF8Text

/// A git commit of the documents that have changed since the last one.
struct GitCommit {
    /// The message: how many documents have changed, and which.
    let message: String

    /// The states of a repository in which somebody else is making a commit: files in the folder of git.
    private static let operations = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"]
    /// The number of documents that a message names.
    private static let namedDocuments = 20

    /// Makes a commit.
    ///
    /// - Parameters:
    ///   - folder: The root of the repository.
    ///   - author: The author, as `Name <address>`; `nil` for the user whom git is configured with.
    /// - Returns: `nil` if nothing has changed.
    /// - Throws: `.failedPrecondition` if git fails, or somebody is merging.
    init?(in folder: String, author: String?) throws(StatusError) {
        let repository = try GitProcess.output("rev-parse", "--absolute-git-dir", in: folder)
        if let operation = Self.operations.first(where: { FileManager.default.fileExists(atPath: "\(repository)/\($0)") }) {
            throw StatusError(
                .failedPrecondition,
                "A merge, rebase or revert is in progress in \(folder) (\(operation)). Finish it, or end it, as `git status` says."
            )
        }
        try GitProcess.output("add", "--all", in: folder)
        let changes = try GitProcess.output("diff", "--cached", "--name-status", "--no-renames", "-z", in: folder)
        guard !changes.isEmpty else { return nil }
        message = Self.message(ofChanges: changes)
        // A user of a service has no name that git would take.
        let hasName = try GitProcess(["var", "GIT_COMMITTER_IDENT"], in: folder, isSilent: true).status == 0
        let name = hasName ? [] : ["-c", "user.name=Hearth", "-c", "user.email=hearth@localhost"]
        let options = ["commit", "--quiet", "--message", message] + (author.map { ["--author", $0] } ?? [])
        guard try GitProcess(name + options, in: folder).status == 0 else {
            throw StatusError(.failedPrecondition, "git commit has failed in \(folder).")
        }
    }

    /// Returns the message for a list of changed files: letters and names in turn, each with a null character behind it.
    static func message(ofChanges changes: String) -> String {
        let parts = changes.split(separator: "\0")
        let lines = stride(from: 0, to: parts.count - 1, by: 2).map { index in
            let name = parts[index + 1]
            let path = name.hasSuffix(".json") ? name.dropLast(5) : name
            switch parts[index] {
            case "A": return "\(path) (new)"
            case "D": return "\(path) (deleted)"
            default: return String(path)
            }
        }
        guard lines.count > 1 else { return "Change \(lines.first ?? "")" }
        let rest = lines.count - namedDocuments
        return (["Change \(lines.count) documents", ""] + lines.prefix(namedDocuments) + (rest > 0 ? ["and \(rest) more"] : []))
            .joined(separator: "\n")
    }
}
