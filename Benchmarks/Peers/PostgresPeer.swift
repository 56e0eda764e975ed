import Foundation
import Glibc

/// PostgreSQL, called by its own protocol: `pgbench` with prepared statements.
struct PostgresPeer: Peer {
    let name = "PostgreSQL"
    private let port: Int
    private let process: SpawnedProcess
    private let folder: String
    private let pgbench: String
    private let psql: String

    /// Starts a server with the documents. Returns `nil` if PostgreSQL is not installed.
    ///
    /// The server refuses to run as root, and runs as the user `postgres` then.
    init?(_ documents: PeerDocuments, in parent: String) async throws {
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
                try SpawnedProcess(isReady, ["-q", "-h", "127.0.0.1", "-p", "\(port)"]).wait()
            }
            try load(documents)
        }
    }

    func run(_ workload: PeerWorkload, _ load: PeerLoad) async throws -> Int? {
        let documents = load.documents
        let last = documents.count - 1
        switch workload {
        case .read:
            return try bench(
                """
                \\set n random(0, \(last))
                SELECT body FROM tags WHERE id = 'd' || lpad((:n)::int::text, 7, '0');
                """,
                load
            )
        case .list:
            return try bench(
                """
                \\set n random(0, \(max(0, last - 100)))
                SELECT id, body FROM tags WHERE id >= 'd' || lpad((:n)::int::text, 7, '0') ORDER BY id LIMIT 100;
                """,
                load
            )
        case .query:
            return try bench(
                """
                \\set n random(0, \(max(1, documents.count / PeerDocuments.groupSize) - 1))
                SELECT id, body FROM tags WHERE (body->>'group') = (:n)::int::text ORDER BY id LIMIT 100;
                """,
                load
            )
        case .update:
            return try bench(
                """
                \\set n random(0, \(last))
                UPDATE tags SET body = document((:n)::int), revision = revision + 1, updated = now()
                    WHERE id = 'd' || lpad((:n)::int::text, 7, '0');
                """,
                load
            )
        case .create:
            return try bench(
                """
                \\set n random(0, 1000000)
                INSERT INTO created (id, body) VALUES ('n' || nextval('ids'), document((:n)::int));
                """,
                load
            )
        case .compareAndSet:
            let start = try counter()
            _ = try bench(
                """
                SELECT n, revision FROM counter \\gset
                UPDATE counter SET n = (:n)::int + 1, revision = revision + 1 WHERE revision = (:revision)::int;
                """,
                load,
                connections: load.callers
            )
            return try counter() - start
        case .increment:
            return try bench("UPDATE counter SET n = n + 1, revision = revision + 1;", load, connections: load.callers)
        case .watch:
            return nil
        }
    }

    func processorTime() throws -> Duration { try process.processorTimeWithChildren() }

    func waitUntilIdle() async throws { try await process.waitUntilIdle() }

    func stop() { process.terminate() }

    /// Creates the tables, with the index of the query, and the documents.
    private func load(_ documents: PeerDocuments) throws {
        let columns = """
            (id text PRIMARY KEY, revision bigint NOT NULL DEFAULT 1, updated timestamptz NOT NULL DEFAULT now(), body jsonb NOT NULL)
            """
        var sql = """
            CREATE TABLE tags \(columns); CREATE TABLE created \(columns); CREATE SEQUENCE ids;
            CREATE FUNCTION document(n int) RETURNS jsonb LANGUAGE sql IMMUTABLE
                AS $$ SELECT '\(documents.json(0))'::jsonb || jsonb_build_object('number', n) $$;
            CREATE INDEX ON tags ((body->>'group'), id);
            CREATE TABLE counter (n bigint NOT NULL, revision bigint NOT NULL); INSERT INTO counter VALUES (0, 0);
            COPY tags (id, body) FROM stdin;

            """
        for number in 0..<documents.count { sql += documents.id(number) + "\t" + documents.json(number) + "\n" }
        sql += "\\.\nVACUUM ANALYZE;\n"
        let file = folder + "/load.sql"
        try RawFileIO.write(Array(sql.utf8), to: file)
        try Self.run([psql, "-q", "-v", "ON_ERROR_STOP=1"] + connection + ["-f", file])
    }

    private var connection: [String] { ["-h", "127.0.0.1", "-p", "\(port)", "-U", "postgres"] }

    /// Runs a script for the duration of the load and returns the number of transactions.
    private func bench(_ script: String, _ load: PeerLoad, connections: Int? = nil) throws -> Int {
        let file = folder + "/script.sql"
        try RawFileIO.write(Array(script.utf8) + [UInt8(ascii: "\n")], to: file)
        let seconds = max(1, Int(load.duration / .seconds(1)))
        let output = try Self.run(
            [pgbench, "-n", "-M", "prepared", "-c", "\(connections ?? load.connections)", "-T", "\(seconds)", "-f", file]
                + connection + ["postgres"],
            output: folder + "/pgbench"
        )
        guard let match = output.firstMatch(of: /actually processed: (\d+)/), let count = Int(match.1) else {
            throw CommandFailure(command: pgbench)
        }
        return count
    }

    private func counter() throws -> Int {
        let output = try Self.run(
            [psql, "-q", "-A", "-t"] + connection + ["-c", "SELECT n FROM counter"],
            output: folder + "/counter"
        )
        return Int(output.split(separator: "\n").first ?? "") ?? 0
    }

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
