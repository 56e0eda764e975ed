import ArgumentParser
import DocumentModel
import Foundation
import HearthTransport

/// Options that select a server and an API key.
struct ServerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Server URL. Can also be set with HEARTH_SERVER.", valueName: "url"))
    var server: String = ProcessInfo.processInfo.environment["HEARTH_SERVER"] ?? Self.standardServer

    @Option(help: ArgumentHelp("File that contains the API key; - reads standard input.", valueName: "file"))
    var keyFile: String?

    @Option(
        help:
            "API key. Visible to other users in the process list: prefer HEARTH_KEY or --key-file."
    )
    var key: String?

    @Option(
        help: ArgumentHelp(
            """
            PEM file with certificates to trust beside those of the system, for a server with a certificate of your own authority. Can \
            also be set with HEARTH_CA_FILE.
            """,
            valueName: "file"
        ),
        completion: .file()
    )
    var caFile: String?

    @Option(
        help: ArgumentHelp(
            """
            PEM file with a certificate to present to a server that asks for one. Can also be set with HEARTH_CLIENT_CERTIFICATE.
            """,
            valueName: "file"
        ),
        completion: .file()
    )
    var clientCertificate: String?

    @Option(
        help: ArgumentHelp(
            "PEM file with the private key of the client certificate. Can also be set with HEARTH_CLIENT_KEY.",
            valueName: "file"
        ),
        completion: .file()
    )
    var clientKey: String?

    /// The URL of a server with the default settings.
    static let standardServer = "http://127.0.0.1:8080"

    func validate() throws {
        guard key == nil || keyFile == nil else { throw ValidationError("--key and --key-file are mutually exclusive.") }
        do {
            _ = try ServerAddress(server)
        } catch {
            throw ValidationError(error.message)
        }
    }

    /// Calls `body` with a connection to the server.
    ///
    /// - Parameter database: The database; `nil` for the default database.
    func withConnection<Result>(
        database: String? = nil,
        _ body: (HearthConnection) async throws -> Result
    ) async throws -> Result {
        try await HearthConnection.withConnection(
            to: ServerAddress(server),
            key: resolvedKey(),
            database: database,
            certificateAuthorities: certificateAuthorities(),
            clientCertificate: presentedCertificate(),
            body
        )
    }

    private func certificateAuthorities() throws(StatusError) -> [UInt8]? {
        try Self.path(caFile, "HEARTH_CA_FILE").map { path throws(StatusError) in try Self.pem(path) }
    }

    private func presentedCertificate() throws(StatusError) -> ClientCertificate? {
        switch (Self.path(clientCertificate, "HEARTH_CLIENT_CERTIFICATE"), Self.path(clientKey, "HEARTH_CLIENT_KEY")) {
        case (let chain?, let key?): return ClientCertificate(chain: try Self.pem(chain), key: try Self.pem(key))
        case (nil, nil): return nil
        default:
            throw StatusError(.invalidArgument, "A client certificate requires both --client-certificate and --client-key.")
        }
    }

    /// Returns the value of an option, or else that of its environment variable unless it is empty.
    private static func path(_ option: String?, _ variable: String) -> String? {
        option ?? ProcessInfo.processInfo.environment[variable].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func pem(_ path: String) throws(StatusError) -> [UInt8] {
        try InputFile(path).readToEnd(maximumBytes: 4 << 20)
    }

    private func resolvedKey() throws(StatusError) -> String? {
        if let keyFile { return try Self.key(inFile: keyFile) }
        // Ignores an empty variable.
        return key ?? ProcessInfo.processInfo.environment["HEARTH_KEY"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Reads the key from a file, ignoring surrounding whitespace.
    static func key(inFile path: String) throws(StatusError) -> String {
        let file = try InputFile(path)
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || (0x09...0x0d).contains(byte) }
        let words = try file.readToEnd(maximumBytes: 4_096).split(whereSeparator: isBlank)
        guard words.count == 1, let key = words.first else {
            throw StatusError(.invalidArgument, "Expected \(file.name) to contain a single API key.")
        }
        return String(decoding: key, as: UTF8.self)
    }
}
