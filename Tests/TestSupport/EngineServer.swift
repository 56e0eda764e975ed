import Foundation
import Synchronization
package import Testing

/// A server of PostgreSQL in a temporary folder, which is reached by a socket in that folder only.
///
/// It ends with the test process: a shell holds the other end of a pipe, and stops it and removes the folder when the pipe is closed.
package final class EngineServer: Sendable {
    private struct Running {
        let shell: ChildProcess
        let pipe: Pipe
    }

    private let folder: TemporaryFolder
    private let settings: [String]
    private let running = Mutex<Running?>(nil)
    private let databaseCount = Atomic(0)

    /// The folder of the newest version's programs; `nil` where PostgreSQL is not installed.
    private static let programs: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return versions.compactMap { Int($0) }.sorted().reversed().map { "\(root)/\($0)/bin" }
            .first { FileManager.default.isExecutableFile(atPath: $0 + "/postgres") }
    }()

    /// True where PostgreSQL is installed.
    package static let isInstalled = programs != nil

    /// The condition of suites that need PostgreSQL.
    package static let condition: ConditionTrait = .enabled(
        if: isInstalled,
        "PostgreSQL is not installed. On Debian: apt-get install postgresql"
    )

    /// The server that all tests share which do not stop it. It does not sync, so that tests are fast.
    package static let shared = Task { try await EngineServer(["fsync=off", "synchronous_commit=off"]) }

    /// Makes the folder and starts the server.
    package init(_ settings: [String] = []) async throws {
        folder = try TemporaryFolder(in: TemporaryFolder.memory)
        self.settings = settings
        // PostgreSQL refuses to run as root.
        if getuid() == 0 { try await run("/bin/chown", ["postgres", folder.path]) }
        try await run(
            try program("initdb"),
            ["--pgdata", folder["data"], "--username", "hearth", "--auth", "trust", "--no-sync"],
            asServerUser: true
        )
        try await start()
    }

    /// Makes a standby of a server, which follows it, and starts it.
    private init(following primary: EngineServer) async throws {
        folder = try TemporaryFolder(in: TemporaryFolder.memory)
        settings = primary.settings
        if getuid() == 0 { try await run("/bin/chown", ["postgres", folder.path]) }
        try await run(
            try program("pg_basebackup"),
            [
                "--pgdata", folder["data"], "--host", primary.folder.path, "--username", "hearth", "--write-recovery-conf",
                "--checkpoint=fast", "--no-sync",
            ],
            asServerUser: true
        )
        try await start()
    }

    /// Makes a standby and starts it. From then on, the primary acknowledges only commits that the standby has.
    package func makeSynchronousStandby() async throws -> EngineServer {
        let standby = try await EngineServer(following: self)
        try await execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try await execute("SELECT pg_reload_conf()")
        // Commits wait for the standby as soon as the primary has read the setting.
        while try await query("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != "1" {
            try await Task.sleep(for: .milliseconds(20))
        }
        return standby
    }

    /// Makes a standby the primary. It goes on with what it has.
    package func promote() async throws {
        // It waits for no other standby.
        try await execute("SELECT pg_promote(true, 60)")
        try await execute("ALTER SYSTEM RESET synchronous_standby_names")
        try await execute("SELECT pg_reload_conf()")
    }

    /// Copies the data folder of the server, which is stopped meanwhile.
    package func copyData() async throws {
        try await stopImmediately()
        try await run("/bin/rm", ["-rf", folder["copy"]])
        try await run("/bin/cp", ["-a", folder["data"], folder["copy"]])
        try await start()
    }

    /// Restores the copy of the data folder, while the server is stopped.
    package func restoreData() async throws {
        try await stopImmediately()
        try await run("/bin/rm", ["-rf", folder["data"]])
        try await run("/bin/cp", ["-a", folder["copy"], folder["data"]])
        try await start()
    }

    /// Lets clients of a network, which need no password, connect to the addresses that the setting `listen_addresses` names.
    package func allowConnections(from network: String) async throws {
        try await execute("COPY (SELECT 'host all all \(network) trust') TO PROGRAM 'cat >> pg_hba.conf'")
        try await execute("SELECT pg_reload_conf()")
    }

    /// Requires the password of a user (SCRAM).
    package func requirePassword(of user: String) async throws {
        // The first entry that fits counts.
        let script = "cat - pg_hba.conf > pg_hba.new && mv pg_hba.new pg_hba.conf"
        try await execute("COPY (SELECT 'local all \(user) scram-sha-256') TO PROGRAM '\(script)'")
        try await execute("SELECT pg_reload_conf()")
    }

    /// Executes SQL, by default in the database `postgres`.
    package func execute(_ sql: String, in database: String = "postgres") async throws {
        try await run(
            try program("psql"),
            ["--host", folder.path, "--username", "hearth", "--quiet", "--output=/dev/null", "--command", sql, database]
        )
    }

    /// Returns the only value of a query, by default in the database `postgres`.
    package func query(_ sql: String, in database: String = "postgres") async throws -> String {
        let (reader, writer) = try ChildProcess.connection()
        let process = try ChildProcess(
            try program("psql"),
            ["--host", folder.path, "--username", "hearth", "--tuples-only", "--no-align", "--command", sql, database],
            output: writer
        )
        try writer.close()
        for await status in process.exits() { try #require(status == .code(0), "\(sql)") }
        return String(decoding: try reader.readToEnd() ?? Data(), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The folder of the socket.
    package var socketFolder: String { folder.path }

    private func program(_ name: String) throws -> String { try #require(Self.programs) + "/" + name }

    private static func asServerUser(_ command: [String]) -> [String] {
        guard getuid() == 0 else { return command }
        return ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] + command
    }

    private func run(_ program: String, _ arguments: [String], asServerUser: Bool = false) async throws {
        let command = asServerUser ? Self.asServerUser([program] + arguments) : [program] + arguments
        let process = try ChildProcess(command[0], Array(command.dropFirst()))
        for await status in process.exits() { try #require(status == .code(0), "\(command)") }
    }

    /// Starts the server, and waits until it accepts connections.
    package func start() async throws {
        let options = (["listen_addresses=", "unix_socket_directories=\(folder.path)", "max_connections=400"] + settings)
            .flatMap { ["-c", $0] }
        let command = Self.asServerUser([try program("postgres"), "-D", folder["data"]] + options)
        let pipe = Pipe()
        // No child may hold the other end.
        for handle in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
            _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        let script =
            #""$@" >> "$FOLDER/log" 2>&1 < /dev/null & signal=$(cat); kill -${signal:-QUIT} $!; wait; [ "$signal" ] || rm -rf "$FOLDER""#
        var environment = ProcessInfo.processInfo.environment
        environment["FOLDER"] = folder.path
        let shell = try ChildProcess(
            "/bin/sh",
            ["-c", script, "sh"] + command,
            environment: environment,
            input: pipe.fileHandleForReading
        )
        try pipe.fileHandleForReading.close()
        running.withLock { $0 = Running(shell: shell, pipe: pipe) }
        for _ in 0..<3_000 {
            let probe = try ChildProcess(
                try program("psql"),
                ["--host", folder.path, "--username", "hearth", "--command", "SELECT 1", "postgres"]
            )
            for await status in probe.exits() where status == .code(0) { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("PostgreSQL does not start: \((try? String(contentsOfFile: folder["log"], encoding: .utf8)) ?? "")")
    }

    /// Stops the server as `pg_ctl stop -m immediate` does: without a checkpoint, so that it recovers at the next start.
    package func stopImmediately() async throws { try await end(with: "QUIT") }

    /// Kills the server, whose sessions notice that a moment later.
    package func kill() async throws {
        try await end(with: "KILL")
        // No server starts while they use the memory of the old one.
        let data = folder["data"]
        while try FileManager.default.contentsOfDirectory(atPath: "/proc").contains(where: {
            Int($0) != nil && (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\($0)/cwd")) == data
        }) { try await Task.sleep(for: .milliseconds(10)) }
    }

    /// Sends a signal to the server, keeps its data, and waits for its end.
    private func end(with signal: String) async throws {
        let stopped = running.withLock { running in
            defer { running = nil }
            return running
        }
        let shell = try #require(stopped)
        try shell.pipe.fileHandleForWriting.write(contentsOf: Array(signal.utf8))
        try shell.pipe.fileHandleForWriting.close()
        for await _ in shell.shell.exits() {}
    }

    deinit {
        running.withLock { running in
            try? running?.pipe.fileHandleForWriting.close()
            if let running { _ = running.shell.wait() }
        }
    }

    /// Returns the URL of a database of a primary and its standby, whichever accepts writes.
    package func url(_ database: String, orOf standby: EngineServer) -> String {
        "postgresql://hearth@/\(database)?host=\(folder.path),\(standby.folder.path)&target_session_attrs=read-write"
    }

    /// Returns the URL of a database.
    package func url(_ database: String, socketFolder: String? = nil) -> String {
        "postgresql://hearth@/\(database)?host=\(socketFolder ?? folder.path)"
    }

    /// Makes an empty database in the engine, and returns its name.
    package func makeDatabase() async throws -> String {
        let name = "test\(databaseCount.add(1, ordering: .relaxed).newValue)"
        try await run(try program("createdb"), ["--host", folder.path, "--username", "hearth", name])
        return name
    }
}
