import DocumentModel
import Foundation
import TestSupport

/// A `hearth` child process without remaining descriptors or threads, so that thousands can be started in succession.
final class ServerProcess: Sendable {
    typealias ExitStatus = ChildProcess.ExitStatus

    private let process: ChildProcess
    /// The first line of standard output.
    private let announcement: AsyncStream<String>
    private let exits: AsyncStream<(ExitStatus, errors: String)>

    /// Starts `hearth` without the HEARTH_ variables of the test environment.
    ///
    /// - Parameter launcher: A command that runs it in its process; empty for none.
    init(_ arguments: [String], environment: [String: String], launcher: [String] = []) throws {
        let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("HEARTH_") }
        let (reader, writer) = try ChildProcess.connection()
        let errors = try Self.temporaryFile()
        let command = launcher + [HearthProcess.executable.path] + arguments
        process = try ChildProcess(
            command[0],
            Array(command.dropFirst()),
            environment: inherited.merging(environment) { $1 },
            output: writer,
            errors: errors
        )
        try writer.close()
        let (announcement, announcementContinuation) = AsyncStream.makeStream(of: String.self)
        let (exits, exitContinuation) = AsyncStream.makeStream(of: (ExitStatus, errors: String).self)
        self.announcement = announcement
        self.exits = exits
        Thread.detachNewThread { [process] in
            if let line = Self.firstLine(of: reader) { announcementContinuation.yield(line) }
            announcementContinuation.finish()
            let status = process.wait()
            try? errors.seek(toOffset: 0)
            exitContinuation.yield((status, String(decoding: (try? errors.readToEnd()) ?? Data(), as: UTF8.self)))
            exitContinuation.finish()
            try? errors.close()
            try? reader.close()
        }
    }

    /// Waits for the first line of standard output; returns `nil` if the process exits without one.
    func firstLine() async -> String? {
        for await line in announcement { return line }
        return nil
    }

    /// Sends a signal.
    func send(_ signal: Int32) {
        process.send(signal)
    }

    /// Waits until the process has exited; returns its status and standard error. Call it once.
    func exit() async throws -> (status: ExitStatus, errors: String) {
        for await (status, errors) in exits { return (status, errors) }
        send(SIGKILL)
        throw CancellationError()
    }

    /// Sends a signal and waits until the process has exited.
    func end(with signal: Int32) async throws -> ExitStatus {
        send(signal)
        return try await exit().status
    }
}

extension ServerProcess {
    /// Creates an unlinked temporary file.
    private static func temporaryFile() throws -> FileHandle {
        let file = FileManager.default.temporaryDirectory.appending(path: "hearth-\(UUID().uuidString)")
        let descriptor = open(file.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StatusError(.unavailable, "open: \(String(cString: strerror(errno)))") }
        unlink(file.path)
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private static func firstLine(of file: FileHandle) -> String? {
        var line: [UInt8] = []
        while let byte = (try? file.read(upToCount: 1))?.first {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }
}
