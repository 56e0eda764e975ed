import DocumentModel
import Foundation
import HearthClient
import Synchronization
import TestSupport
import Testing
import UTF8Text

@Suite("Commits without an answer", .timeLimit(.minutes(10)))
struct RepeatedCommitTests {
    fileprivate static func increment(_ path: String) throws -> Write {
        Write(
            path: try DocumentPath(path),
            operation: .patch(["by": .string("test")], mask: [try FieldPath("by")]),
            transforms: [FieldTransform(field: try FieldPath("n"), operation: .increment(.integer(1)))]
        )
    }

    private static func number(_ path: String, in server: EndToEndServer) async throws -> Value? {
        try await server.connection.document(at: DocumentPath(path)).decoded().fields["n"]
    }

    @Test func `A connection may break at any byte of a request or an answer; each commit is applied once`() async throws {
        try await withServer { server in
            let port = try #require(URL(string: server.address)?.port)
            let proxy = try CuttingProxy(to: port)
            defer { proxy.stop() }
            let count = try await HearthConnection.withConnection(to: ServerAddress("http://127.0.0.1:\(proxy.port)")) {
                connection in
                var count: Int64 = 0
                for bytes in stride(from: 1, through: 500, by: 7) {
                    for isRequest in [true, false] {
                        if isRequest {
                            proxy.cutNext(afterRequestBytes: bytes)
                        } else {
                            proxy.cutNext(responseBytes: bytes)
                        }
                        let result = try await connection.write(Self.increment("counters/a"))
                        count += 1
                        #expect(result.transformResults == [.integer(count)], "cut after \(bytes) bytes")
                    }
                }
                return count
            }
            #expect(try await Self.number("counters/a", in: server) == .integer(count))
        }
    }

    @Test func `The server may be killed at any time; each commit that is answered was applied once`() async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appendingPathComponent("data")
            var server = try await EndToEndServer(data: data)
            let proxy = try CuttingProxy(to: try #require(URL(string: server.address)?.port))
            defer { proxy.stop() }
            let connection = try HearthConnection(
                server: ServerAddress("http://127.0.0.1:\(proxy.port)"),
                resendTimeout: .seconds(400)
            )
            let load = IncrementLoad(connection)
            let counts = await withTaskGroup(of: IncrementLoad.Count.self) { group in
                for number in 0..<6 { group.addTask { await load.run("counters/c\(number % 3)", inTransactions: number >= 3) } }
                for _ in 0..<4 {
                    try? await Task.sleep(for: .milliseconds(.random(in: 100...600)))
                    do {
                        _ = try await server.stop(with: SIGKILL)
                        server = try await EndToEndServer(data: data)
                        proxy.retarget(to: try #require(URL(string: server.address)?.port))
                    } catch {
                        Issue.record("the server does not start: \(error)")
                    }
                }
                load.end()
                return await group.reduce(into: []) { $0.append($1) }
            }
            await connection.shutdown()
            for (path, ofPath) in Dictionary(grouping: counts, by: \.path) {
                let answered = ofPath.map(\.answered).reduce(0, +)
                #expect(answered > 0 && ofPath.allSatisfy { $0.errors.isEmpty }, "\(ofPath)")
                #expect(try await Self.number(path, in: server) == .integer(answered))
            }
            #expect(try await server.stop() == .code(0))
        }
    }
}

/// Tasks that increment counters one after the other.
private final class IncrementLoad: Sendable {
    /// The commits of a task.
    struct Count: Sendable {
        let path: String
        var answered: Int64 = 0
        /// The errors of commits, but for those whose transaction was ended by a restart, and those that could not be sent.
        var errors: [String] = []
    }

    private let connection: HearthConnection
    private let isEnding = Atomic(false)

    init(_ connection: HearthConnection) {
        self.connection = connection
    }

    func end() {
        isEnding.store(true, ordering: .relaxed)
    }

    func run(_ path: String, inTransactions: Bool) async -> Count {
        var count = Count(path: path)
        while !isEnding.load(ordering: .relaxed) {
            // A restart ends a transaction.
            let transaction = inTransactions ? try? await connection.beginTransaction() : nil
            if inTransactions, transaction == nil { continue }
            do {
                _ = try await connection.commit([RepeatedCommitTests.increment(path)], in: transaction)
                count.answered += 1
            } catch {
                let (code, text) = ((error as? StatusError)?.code, "\(error)")
                if code != .aborted, !text.contains("Cannot connect") { count.errors.append(text) }
            }
        }
        return count
    }
}
