/// PostgreSQL, called by its own protocol: `pgbench` with prepared statements.
struct PostgresPeer: Peer {
    let name = "PostgreSQL"
    private let server: PostgresServer

    /// Starts a server with the documents. Returns `nil` if PostgreSQL is not installed.
    init?(_ documents: PeerDocuments, in parent: String) async throws {
        guard let server = try await PostgresServer(in: parent) else { return nil }
        self.server = server
        do {
            try load(documents)
        } catch {
            server.stop()
            throw error
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

    func processorTime() throws -> Duration { try server.processorTime() }

    func waitUntilIdle() async throws { try await server.waitUntilIdle() }

    func stop() { server.stop() }

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
        try server.execute(sql)
    }

    /// Runs a script for the duration of the load and returns the number of transactions.
    private func bench(_ script: String, _ load: PeerLoad, connections: Int? = nil) throws -> Int {
        let seconds = max(1, Int(load.duration / .seconds(1)))
        return try server.bench(script: script, connections: connections ?? load.connections, seconds: seconds)
    }

    private func counter() throws -> Int { try server.number("SELECT n FROM counter") }
}
