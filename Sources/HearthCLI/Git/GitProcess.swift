import DocumentModel
import Foundation
import StorageIO
import UTF8Text

/// A call of the program `git` in a folder. It blocks the calling thread until the program has ended.
///
/// Messages of git are written to standard error.
struct GitProcess {
    /// The exit status; 128 if a signal has ended the program.
    let status: Int32
    /// The standard output.
    let output: [UInt8]

    /// Runs git.
    ///
    /// - Parameters:
    ///   - folder: The folder in which it runs, whatever repository the environment names, as it does for hooks.
    ///   - isSilent: True if git's messages are of no use.
    /// - Throws: `.failedPrecondition` if git is not installed.
    init(_ arguments: [String], in folder: String, isSilent: Bool = false) throws(StatusError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw FileSystemError("pipe").status("Cannot run git") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let reader = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        var processID: Int32 = 0
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        if isSilent { posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) }
        let environment = ProcessInfo.processInfo.environment.filter { !Self.repositoryVariables.contains($0.key) }
        let failure = Self.withStrings(["git", "-C", folder] + arguments) { arguments in
            Self.withStrings(environment.map { "\($0)=\($1)" }) { environment in
                posix_spawnp(&processID, "git", &actions, nil, arguments, environment)
            }
        }
        posix_spawn_file_actions_destroy(&actions)
        close(ends[1])
        guard failure == 0 else {
            throw StatusError(.failedPrecondition, "Cannot run git (\(String(cString: strerror(failure)))). Install it.")
        }
        output = (try? reader.readToEnd()).map { Array($0) } ?? []
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0, errno == EINTR {}
        self.status = status & 0x7f == 0 ? (status >> 8) & 0xff : 128
    }

    /// Runs git, and returns its output without a line feed at the end.
    ///
    /// - Throws: `.failedPrecondition` if it is not installed, or fails.
    @discardableResult
    static func output(_ arguments: String..., in folder: String) throws(StatusError) -> String {
        let process = try GitProcess(arguments, in: folder)
        guard process.status == 0 else {
            throw StatusError(.failedPrecondition, "git \(arguments.first ?? "") has failed in \(Excerpt(folder)).")
        }
        let output = process.output
        return String(decoding: output.last == UInt8(ascii: "\n") ? output.dropLast() : output[...], as: UTF8.self)
    }

    /// The variables that name a repository (`git rev-parse --local-env-vars`).
    private static let repositoryVariables: Set<String> = [
        "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX", "GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
    ]

    private static func withStrings<Result>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for case let copy? in copies { free(copy) } }
        return body(copies + [nil])
    }
}
