import DocumentModel
import Foundation
import StorageIO
import UTF8Text

/// The setup of a git repository for documents.
struct GitSetup {
    /// The root of the repository.
    let folder: String

    /// The variables of the configuration that make git merge and show documents field by field; also for clones.
    ///
    /// - Parameter program: The command that runs this program.
    private static func sharedConfiguration(_ program: String) -> [(name: String, value: String)] {
        [
            ("merge.hearth.name", "documents, field by field"),
            ("merge.hearth.driver", "\(program) git merge %O %A %B %L %P"),
            // A hunk of a diff begins with the name of the field.
            ("diff.hearth.xfuncname", #"^  ("([^"\\]|\\.)+"):"#),
        ]
    }

    /// True if the folder has a repository of its own.
    var isRepository: Bool { FileManager.default.fileExists(atPath: "\(folder)/.git") }

    /// Gives files that git makes from now on to the group, too, if it can write the folder. Returns whether it can.
    @discardableResult
    func applyGroupAccess() -> Bool {
        var status = stat()
        let isShared = stat(folder, &status) == 0 && status.st_mode & S_IWGRP != 0
        (isShared ? GroupAccess.edit : .none).apply()
        return isShared
    }

    /// Makes a repository of the documents of a database, or completes one.
    func setUpDocuments() throws(StatusError) {
        var status = stat()
        guard stat(folder, &status) == 0 else { throw FileSystemError("stat").status("Cannot read \(folder)") }
        guard status.st_uid == geteuid() else {
            throw StatusError(
                .failedPrecondition,
                "\(folder) belongs to another user. Run the command as that user: git trusts a repository only if the owner uses it."
            )
        }
        let isShared = applyGroupAccess()
        let options = ["init", "--quiet"] + (isShared ? ["--shared=group"] : [])
        guard try GitProcess(options, in: folder).status == 0 else {
            throw StatusError(.failedPrecondition, "git init has failed in \(folder).")
        }
        try write(Self.ignoredFiles, to: ".gitignore")
        try write(Self.attributes, to: ".gitattributes")
        let program = Self.program
        try configure(
            Self.sharedConfiguration(program) + [
                ("filter.hearth.process", "\(program) git filter --times"),
                // Without the filter, histories would have times, which make an edit of another version of it later.
                ("filter.hearth.required", "true"),
                // A push updates the files.
                ("receive.denyCurrentBranch", "updateInstead"),
            ]
        )
        print("\(folder): ready\(isShared ? ", for the group of the folder" : "")")
    }

    /// Configures a clone of a repository of documents.
    func setUpClone() throws(StatusError) {
        let root = try GitProcess.output("rev-parse", "--show-toplevel", in: folder)
        let program = Self.program
        try configure(Self.sharedConfiguration(program) + [("filter.hearth.process", "\(program) git filter")])
        print("\(root): ready")
    }

    private func configure(_ variables: [(name: String, value: String)]) throws(StatusError) {
        for (name, value) in variables { try GitProcess.output("config", name, value, in: folder) }
    }

    /// Writes a block of lines to a file, in place of an earlier one, or else before the other lines of the file.
    private func write(_ lines: String, to name: String) throws(StatusError) {
        let path = "\(folder)/\(name)"
        let old = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let new = Self.text(old, with: lines)
        guard new != old else { return }
        let file = try AtomicOutputFile(at: path)
        do throws(StatusError) {
            var output = BufferedOutput(descriptor: file.descriptor, name: path)
            try output.write(new.utf8)
            try output.flush()
        } catch {
            file.discard()
            throw error
        }
        try file.commit()
    }

    /// Returns a text with a block of lines in place of an earlier one, or else before the text.
    static func text(_ text: String, with lines: String) -> String {
        let block = "\(begin)\n\(lines)\n\(end)\n"
        guard let start = text.range(of: "\(begin)\n"),
            let end = text.range(of: "\(end)\n", range: start.upperBound..<text.endIndex)
        else { return text.isEmpty ? block : block + "\n" + text }
        return text.replacingCharacters(in: start.lowerBound..<end.upperBound, with: block)
    }

    private static let begin = "# Begin of what `hearth git init` writes. Lines of your own: below."
    private static let end = "# End of what `hearth git init` writes."

    /// The names that are no documents.
    private static let ignoredFiles = """
        *
        !*/
        !*.json
        .*
        !.hearth-id.json
        !.gitattributes
        !.gitignore
        """

    private static let attributes = """
        *.json -text filter=hearth merge=hearth diff=hearth
        .hearth-id.json !filter !merge !diff
        """

    /// The shell's word for this program.
    private static var program: String {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "hearth"
        let isPlain = path.utf8.allSatisfy { $0.isLetterOrDigit || "/._-+".utf8.contains($0) }
        return isPlain ? path : "'\(path.replacing("'", with: #"'\''"#))'"
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
