import ArgumentParser
import DocumentModel
import Foundation
import HearthClient

/// Which server a command talks to.
struct ServerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The server's address. HEARTH_SERVER stands in for it.", valueName: "url"))
    var server: String = ProcessInfo.processInfo.environment["HEARTH_SERVER"] ?? "http://127.0.0.1:8080"

    @Option(help: ArgumentHelp("A file with the key to show to the server; - reads it from standard input.", valueName: "file"))
    var keyFile: String?

    @Option(
        help:
            "The key itself, which other users of this machine can then see among the processes. HEARTH_KEY or --key-file hide it."
    )
    var key: String?

    func validate() throws {
        guard key == nil || keyFile == nil else { throw ValidationError("Give the key by --key or by --key-file, not by both.") }
        do {
            _ = try ServerAddress(server)
        } catch {
            throw ValidationError(error.message)
        }
    }

    /// Runs `body` with a connection to the server.
    ///
    /// - Parameter database: The database to call in; the server's default one when nil.
    func withConnection<Result>(
        database: String? = nil,
        _ body: (HearthConnection) async throws -> Result
    ) async throws -> Result {
        try await HearthConnection.withConnection(to: ServerAddress(server), key: shownKey(), database: database, body)
    }

    private func shownKey() throws(StatusError) -> String? {
        if let keyFile { return try Self.key(inFile: keyFile) }
        // A variable that is empty is as good as none.
        return key ?? ProcessInfo.processInfo.environment["HEARTH_KEY"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The key that is all that a file has, but for blanks and the end of the line.
    private static func key(inFile path: String) throws(StatusError) -> String {
        let file = try InputFile(path)
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || (0x09...0x0d).contains(byte) }
        let words = try file.readToEnd(maximumBytes: 4_096).split(whereSeparator: isBlank)
        guard words.count == 1, let key = words.first else {
            throw StatusError(.invalidArgument, "Expected a key and nothing else in \(file.name).")
        }
        return String(decoding: key, as: UTF8.self)
    }
}
