import Foundation
import Glibc

/// A server of PostgreSQL on a temporary folder and a free port. It syncs each commit.
struct PostgresServer: Sendable {
    let port: Int
    private let process: SpawnedProcess
    private let folder: String
    private let pgbench: String
    private let psql: String

    /// Starts a server. Returns `nil` if PostgreSQL is not installed.
    ///
    /// The server refuses to run as root, and runs as the user `postgres` then.
    init?(in parent: String) async throws {
        guard let initdb = PeerEnvironment.program("initdb"), let server = PeerEnvironment.program("postgres"),
            let pgbench = PeerEnvironment.program("pgbench"), let psql = PeerEnvironment.program("psql"),
            let isReady = PeerEnvironment.program("pg_isready")
        else { return nil }
        let folder = parent + "/postgres"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        var user: [String] = []
        if getuid() == 0, let account = getpwnam("postgres")?.pointee {
            guard chown(folder, account.pw_uid, account.pw_gid) == 0 else { throw RawFileIO.Failure(call: "chown", code: errno) }
            user = ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        }
        let data = folder + "/data"
        try Self.run(user + [initdb, "-D", data, "-A", "trust", "-U", "postgres", "--encoding=UTF8", "--locale=C"])
        let port = try PeerEnvironment.freePort()
        let command =
            user + [
                server, "-D", data, "-p", "\(port)", "-c", "listen_addresses=127.0.0.1", "-c",
                "unix_socket_directories=" + folder,
                "-c", "log_min_messages=fatal", "-c", "max_connections=300",
            ]
        self.port = port
        self.folder = parent
        self.pgbench = pgbench
        self.psql = psql
        process = try SpawnedProcess(command[0], Array(command.dropFirst()))
        try await process.terminatingOnFailure {
            try await PeerEnvironment.wait(for: "PostgreSQL") {
                try SpawnedProcess(isReady, ["-q", "-h", "127.0.0.1", "-p", "\(port)", "-U", "postgres"]).wait()
            }
        }
    }

    /// The URL of the default database.
    var url: String { "postgresql://postgres@127.0.0.1:\(port)/postgres" }

    private var connection: [String] { ["-h", "127.0.0.1", "-p", "\(port)", "-U", "postgres"] }

    /// Executes SQL.
    func execute(_ sql: String) throws {
        let file = folder + "/load.sql"
        try RawFileIO.write(Array(sql.utf8), to: file)
        try Self.run([psql, "-q", "-v", "ON_ERROR_STOP=1"] + connection + ["-f", file])
    }

    /// Returns the number in the first column of the first row of a query; 0 if there is none.
    func number(_ sql: String) throws -> Int {
        let output = try Self.run([psql, "-q", "-A", "-t"] + connection + ["-c", sql], output: folder + "/number")
        return Int(output.split(separator: "\n").first ?? "") ?? 0
    }

    /// Runs `pgbench` with prepared statements for some seconds, and returns the number of transactions.
    ///
    /// - Parameter arguments: The choice of the script.
    func bench(_ arguments: [String], connections: Int, seconds: Int) throws -> Int {
        let output = try Self.run(
            [pgbench, "-n", "-M", "prepared", "-c", "\(connections)", "-T", "\(seconds)"] + arguments + connection + ["postgres"],
            output: folder + "/pgbench"
        )
        guard let match = output.firstMatch(of: /actually processed: (\d+)/), let count = Int(match.1) else {
            throw CommandFailure(command: pgbench)
        }
        return count
    }

    /// Runs a script of `pgbench` for some seconds, and returns the number of transactions.
    func bench(script: String, connections: Int, seconds: Int) throws -> Int {
        let file = folder + "/script.sql"
        try RawFileIO.write(Array(script.utf8) + [UInt8(ascii: "\n")], to: file)
        return try bench(["-f", file], connections: connections, seconds: seconds)
    }

    /// Makes the tables of `pgbench`.
    func initializeBench(scale: Int) throws {
        try Self.run([pgbench, "-i", "-q", "-s", "\(scale)"] + connection + ["postgres"])
    }

    func processorTime() throws -> Duration { try process.processorTimeWithChildren() }

    func waitUntilIdle() async throws { try await process.waitUntilIdle() }

    func stop() { process.terminate() }

    /// Runs a command and returns what it has written to the file `output`.
    private static func run(_ command: [String], output: String) throws -> String {
        try RawFileIO.write([], to: output)
        try run(command, writingTo: output)
        return try String(contentsOfFile: output, encoding: .utf8)
    }

    /// Runs a command.
    private static func run(_ command: [String], writingTo output: String = "/dev/null") throws {
        guard try SpawnedProcess(command[0], Array(command.dropFirst()), output: output).wait() else {
            throw CommandFailure(command: command.first { $0.hasSuffix("initdb") } ?? command[0])
        }
    }

    private struct CommandFailure: Error, CustomStringConvertible {
        let command: String

        var description: String { "\(command) failed." }
    }
}
