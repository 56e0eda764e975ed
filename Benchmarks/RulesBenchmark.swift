import ArgumentParser
import Cryptography
import DocumentModel
import DocumentStore
import NIOCore
import SecurityRules
import StrictJSON
import UTF8Text

/// The cost of security rules: of a read, of commits that many end users watch, and of compiling a file.
struct RulesBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "Reads and watch streams of end users, compared with those of callers whom no rules restrict."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Number of documents per workload.")
    var documents = 20_000

    @Option(help: "Number of concurrent connections.")
    var connections = 64

    @Option(help: "Number of watchers.")
    var watchers = 1_000

    @Option(help: "Commits per second to the watched document.")
    var rate = 100

    @Option(help: "Duration of watching in seconds.")
    var seconds = 10

    @Option(help: "Path of the hearth executable; the default is the one next to this program.")
    var hearth: String?

    func validate() throws {
        guard documents >= 1_000, connections >= 1, watchers >= 2, rate >= 1, seconds >= 1 else {
            throw ValidationError(
                "Requires at least 1,000 documents, 1 connection, 2 watchers, 1 commit per second and 1 second."
            )
        }
    }

    func run() async throws {
        var report = Report()
        try measureCompiler(into: &report)
        var generator = DocumentGenerator(seed: options.seed)
        let documents = try generator.documents(documents)
        try await BackgroundLoad.with(options.busy) {
            let free = try await withServer(rules: nil) { server, token in
                try await measureGets(documents, of: server, token, into: &report)
            }
            for rule in Rule.gets {
                _ = try await withServer(rules: rule) { server, token in
                    try await measureGets(documents, of: server, token, relativeTo: free, maximum: rule.maximum, into: &report)
                }
            }
            let freely = try await withServer(rules: nil) { server, token in
                try await measureWatchers(of: server, token, into: &report)
            }
            for rule in Rule.lists {
                _ = try await withServer(rules: rule) { server, token in
                    try await measureWatchers(of: server, token, relativeTo: freely, maximum: rule.maximum, into: &report)
                }
            }
        }
        if let path = options.json { try report.write(to: path) }
    }

    /// A condition for reading the documents.
    private struct Rule {
        let condition: String
        /// The maximum CPU time, relative to that without rules.
        let maximum: Double?

        static let gets = [
            Rule(condition: "resource.data.owner == request.auth.uid", maximum: 1.15),
            Rule(condition: "get(/databases/$(database)/documents/roles/$(request.auth.uid)).data.reads == true", maximum: nil),
        ]
        static let lists = [
            Rule(condition: "request.auth != null", maximum: 1.1),
            Rule(condition: "get(/databases/$(database)/documents/roles/$(request.auth.uid)).data.reads == true", maximum: nil),
        ]

        var text: String {
            """
            rules_version = '2';
            service cloud.firestore {
              match /databases/{database}/documents {
                match /{collection}/{id} {
                  allow read: if \(condition);
                  allow write;
                }
              }
            }
            """
        }
    }

    /// Runs `body` with a server and the token of an end user, which a server without rules ignores.
    private func withServer<Result>(
        rules: Rule?,
        _ body: (BenchmarkServer, String) async throws -> Result
    ) async throws -> Result {
        try await RawFileIO.withTemporaryFolder(in: options.folder) { folder in
            var arguments = ["--watchers", "--watchers-per-address", "--watchers-per-key"].flatMap { [$0, "\(watchers + 1)"] }
            if let rules {
                try RawFileIO.write(Array(rules.text.utf8), to: folder + "/firestore.rules")
                try RawFileIO.write(Array(Self.secret.utf8), to: folder + "/secret")
                try RawFileIO.write(Array(Self.issuers.utf8), to: folder + "/issuers.json")
                arguments += ["--rules", folder + "/firestore.rules", "--auth-issuers", folder + "/issuers.json"]
            }
            return try await BenchmarkServer.withHearth(hearth, data: folder + "/data", arguments, in: folder) { server in
                try await body(server, Self.token())
            }
        }
    }

    // MARK: - Tokens

    private static let user = "alice"
    private static let secret = "a secret of at least thirty-two bytes"
    private static let issuers =
        #"{"issuers": [{"issuer": "bench", "audience": ["hearth"], "algorithms": ["HS256"], "secretFile": "secret"}]}"#

    /// Returns an ID token of about the usual size.
    private static func token() -> String {
        let now = Timestamp.current().microseconds / 1_000_000
        let claims =
            #"{"iss":"bench","aud":"hearth","sub":"\#(user)","iat":\#(now),"exp":\#(now + 3_600),"name":"Alice Liddell","email":"#
            + #""alice@example.org","email_verified":true,"firebase":{"identities":{"email":["alice@example.org"]},"#
            + #""sign_in_provider":"password"}}"#
        let signed = Base64.url.encode(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8)) + "." + Base64.url.encode(Array(claims.utf8))
        let code = SymmetricKey(Array(secret.utf8)).authenticationCode(for: Array(signed.utf8))
        return signed + "." + Base64.url.encode(Array(code))
    }

    // MARK: - Workloads

    private func measureCompiler(into report: inout Report) throws {
        let blocks = (0..<240).map { number in
            """
                match /collection\(number)/{id} {
                  allow get, list: if request.auth != null && request.auth.uid == resource.data.owner;
                  allow create, update: if request.resource.data.keys().hasOnly(['owner', 'title', 'tags']) && isValid(request.resource.data);
                }

            """
        }
        let text = """
            rules_version = '2';
            service cloud.firestore {
              match /databases/{database}/documents {
                function isValid(data) {
                  return data.title is string && data.title.size() < 100 && data.tags is list;
                }
            \(blocks.joined())
              }
            }
            """
        let count = 20
        _ = try Ruleset(text)
        let start = ContinuousClock.now
        for _ in 0..<count { _ = try Ruleset(text) }
        let elapsed = ContinuousClock.now - start
        let lines = text.utf8.count { $0 == UInt8(ascii: "\n") }
        var measurement = Measurement(
            name: "compile a file of \(lines) lines",
            operations: count,
            unit: "file",
            elapsed: elapsed,
            processorTime: elapsed
        )
        measurement.quantities = [
            .init(
                name: "time for 1,000 lines",
                value: elapsed / .milliseconds(count) * 1_000 / Double(lines),
                unit: "ms",
                maximum: 20
            )
        ]
        report.add(measurement)
    }

    private func measureGets(
        _ documents: [Document],
        of server: BenchmarkServer,
        _ token: String,
        relativeTo other: Measurement? = nil,
        maximum: Double? = nil,
        into report: inout Report
    ) async throws -> Measurement {
        let load = HTTPLoad(port: server.port, connections: connections, token: token)
        let owner = try FieldPath("owner")
        let sets = documents.map { document in
            ByteBuffer.call("documents.set") { params in
                params.key("path")
                params.string(document.path.string)
                params.key("fields")
                var fields = document.fields
                fields.set(.string(Self.user), at: owner)
                fields.write(to: &params)
            }
        }
        try await load.post([Self.role] + sets, to: "/rpc", expecting: HTTPLoad.result)
        let gets = documents.map { document in
            ByteBuffer.call("documents.get") { params in
                params.key("path")
                params.string(document.path.string)
            }
        }
        try await load.post(Array(gets.prefix(1_000)), to: "/rpc", expecting: HTTPLoad.result)
        try await server.process.waitUntilIdle()
        var measurement = try await Measurement.run(
            other == nil ? "documents.get without rules" : "documents.get with rules",
            operations: gets.count,
            unit: "call",
            processorTime: server.process.processorTime
        ) {
            try await load.post(gets, to: "/rpc", expecting: HTTPLoad.result)
        }
        if let other { measurement.addProcessorTime(relativeTo: other, maximum: maximum) }
        report.add(measurement)
        return measurement
    }

    private func measureWatchers(
        of server: BenchmarkServer,
        _ token: String,
        relativeTo other: Measurement? = nil,
        maximum: Double? = nil,
        into report: inout Report
    ) async throws -> Measurement {
        let load = WatchLoad(watchers: watchers)
        let requests = HTTPLoad(port: server.port, connections: 1, token: token)
        try await requests.post([Self.role], to: "/rpc", expecting: HTTPLoad.result)
        var writer = SteadyWriter(seed: options.seed, rate: rate, port: server.port, token: token)
        try await writer.write(1)
        try await load.start(.hearth(SteadyWriter.collection, port: server.port, token: token), port: server.port)
        let count = rate * seconds
        var measurement = try await Measurement.run(
            "\(watchers) watchers with\(other == nil ? "out" : "") rules",
            operations: count * watchers,
            unit: "frame",
            processorTime: server.process.processorTime
        ) {
            try await writer.write(count)
            try await load.wait(for: count)
        }
        let delivered = load.drainStatistics().reduce(0) { $0 + $1.frames }
        measurement.quantities = [
            .init(name: "undelivered frames", value: Double(measurement.operations - delivered), unit: "", maximum: 0)
        ]
        if let other { measurement.addProcessorTime(relativeTo: other, maximum: maximum) }
        report.add(measurement)
        try await load.stop()
        return measurement
    }

    /// The document that rules read.
    private static let role = ByteBuffer.call("documents.set") { params in
        params.key("path")
        params.string("roles/\(user)")
        params.key("fields")
        params.raw(Array(#"{"reads": true}"#.utf8))
    }
}
