import Foundation
import TestSupport

/// A `hearth` child process, with the executable built with the tests.
///
/// The caller must end it with ``HearthProcess/end(with:)`` or wait for it with ``HearthProcess/exitStatus()``. Waiting is
/// cancelled with the task, and so limited by the time limit of the test.
final class HearthProcess: Sendable {
    /// The lines of standard output and standard error, without line feeds.
    let output: AsyncStream<String>
    let errors: AsyncStream<String>
    private let exits: AsyncStream<ExitStatus>
    private let process: ChildProcess

    typealias ExitStatus = ChildProcess.ExitStatus

    var processID: Int32 { process.processID }

    /// Starts `hearth` or another program, without the HEARTH_ and OTEL_ variables of the test environment.
    init(
        _ arguments: [String],
        program: URL = executable,
        input: String = "",
        environment: [String: String] = [:]
    ) throws {
        let (inputReader, inputWriter) = try ChildProcess.connection()
        let (outputReader, outputWriter) = try ChildProcess.connection()
        let (errorReader, errorWriter) = try ChildProcess.connection()
        let process = try ChildProcess(
            program.path,
            arguments,
            environment: ProcessInfo.processInfo.environment
                .filter { !$0.key.hasPrefix("HEARTH_") && !$0.key.hasPrefix("OTEL_") }
                .merging(environment) { $1 },
            input: inputReader,
            output: outputWriter,
            errors: errorWriter
        )
        for end in [inputReader, outputWriter, errorWriter] { try end.close() }
        self.process = process
        self.output = .lines(of: outputReader)
        self.errors = .lines(of: errorReader)
        self.exits = process.exits()
        Thread.detachNewThread {
            try? inputWriter.write(contentsOf: Data(input.utf8))
            try? inputWriter.close()
        }
    }

    /// Sends a signal.
    func send(_ signal: Int32) {
        process.send(signal)
    }

    /// Waits until the process has exited. Call it once.
    func exitStatus() async throws -> ExitStatus {
        for await status in exits { return status }
        send(SIGKILL)
        throw CancellationError()
    }

    /// Waits until the process has exited and returns its output. Call it once.
    func result() async throws -> CommandResult {
        async let output = output.reduce(into: []) { $0.append($1) }
        async let errors = errors.reduce(into: []) { $0.append($1) }
        return CommandResult(status: try await exitStatus(), output: await output, errors: await errors)
    }

    /// Sends a signal and waits until the process has exited.
    func end(with signal: Int32) async throws -> ExitStatus {
        send(signal)
        return try await exitStatus()
    }

    /// The build folder with the tests and executables.
    static let products: URL = {
        let testBundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
        return testBundle?.bundleURL.deletingLastPathComponent() ?? Bundle.main.bundleURL
    }()

    static let executable = products.appendingPathComponent("hearth")
}

/// The output and exit status of a command.
struct CommandResult: Sendable, CustomStringConvertible {
    let status: HearthProcess.ExitStatus
    let output: [String]
    let errors: [String]

    var errorText: String { errors.joined(separator: "\n") }

    var description: String { "\(status)\n\(output.joined(separator: "\n"))\n\(errorText)" }
}

/// Runs a `hearth` command and returns its result.
func hearth(_ arguments: String..., input: String = "", environment: [String: String] = [:]) async throws -> CommandResult {
    try await HearthProcess(arguments, input: input, environment: environment).result()
}

/// Runs a shell command line, in which `$HEARTH` is the executable.
func shell(_ line: String) async throws -> CommandResult {
    let bash = URL(filePath: "/bin/bash")
    let environment = ["HEARTH": HearthProcess.executable.path]
    return try await HearthProcess(["-c", line], program: bash, environment: environment).result()
}

/// Returns whether a program is installed.
func isInstalled(_ program: String) -> Bool {
    (try? ChildProcess.run("/bin/sh", ["-c", "command -v \(program) >/dev/null"])) == .code(0)
}
