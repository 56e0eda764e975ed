import DocumentModel
import Foundation
import TestSupport

/// A `hearth` as a child process, of which thousands may follow each other: it leaves no descriptor or thread behind.
final class ServerProcess: Sendable {
    typealias ExitStatus = ChildProcess.ExitStatus

    private let process: ChildProcess
    /// The first line on standard output, then nothing more.
    private let announcement: AsyncStream<String>
    private let exits: AsyncStream<(ExitStatus, errors: String)>

    /// Starts `hearth` with these arguments, and without the HEARTH_ variables of the tests' own surroundings.
    init(_ arguments: [String], environment: [String: String]) throws {
        let surroundings = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("HEARTH_") }
        let (reader, writer) = try ChildProcess.connection()
        let errors = try Self.temporaryFile()
        process = try ChildProcess(
            HearthProcess.executable.path,
            arguments,
            environment: surroundings.merging(environment) { $1 },
            output: writer,
            errors: errors
        )
        try writer.close()
        let (announcement, announcing) = AsyncStream.makeStream(of: String.self)
        let (exits, exiting) = AsyncStream.makeStream(of: (ExitStatus, errors: String).self)
        self.announcement = announcement
        self.exits = exits
        Thread.detachNewThread { [process] in
            if let line = Self.firstLine(of: reader) { announcing.yield(line) }
            announcing.finish()
            let status = process.wait()
            try? errors.seek(toOffset: 0)
            exiting.yield((status, String(decoding: (try? errors.readToEnd()) ?? Data(), as: UTF8.self)))
            exiting.finish()
            try? errors.close()
            try? reader.close()
        }
    }

    /// Waits for the first line on standard output; nil when the process ended without one.
    func firstLine() async -> String? {
        for await line in announcement { return line }
        return nil
    }

    /// Sends a signal.
    func send(_ signal: Int32) {
        process.send(signal)
    }

    /// Waits until the process has ended, and says how, with what it wrote to standard error. To be asked once.
    func exit() async throws -> (status: ExitStatus, errors: String) {
        for await (status, errors) in exits { return (status, errors) }
        send(SIGKILL)
        throw CancellationError()
    }

    /// Sends a signal and waits for the end.
    func end(with signal: Int32) async throws -> ExitStatus {
        send(signal)
        return try await exit().status
    }
}

extension ServerProcess {
    /// A file that has no name any more.
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
