import Dispatch
import DocumentModel
import SyncCache
import Synchronization
import Testing
import TransportTestSupport
import UTF8Text

@testable import HearthClient
@testable import SyncEngine

@Suite("Queries of a large cache", .timeLimit(.minutes(10)))
struct ScanOrderTests {
    /// Runs `body` with a client whose cache has documents, and with a query that matches all of them.
    private func withClient(
        _ paths: [DocumentPath],
        _ respond: @escaping @Sendable (StubServer.Request) -> StubServer.Response,
        _ body: (SyncClient<PersistentCache>, StructuredQuery) async throws -> Void
    ) async throws {
        let server = try StubServer(respond)
        var cache = PersistentCache.inMemory()
        try cache.save(
            paths.map { path in
                RemoteDocument(path: path, content: .found(["n": .integer(1)], createTime: nil), version: .minimum)
            }
        )
        let connection = try HearthConnection(server: server.address)
        let storage = SyncClient<PersistentCache>.Storage(
            open: { [cache] in SyncClient.Storage.Opened(cache: cache) },
            close: { $0.close() }
        )
        let client = SyncClient(storage, for: UserID(nil), evicting: nil, over: connection)
        let query = StructuredQuery(.collection(try CollectionPath("c")), orders: [.init(.field(try FieldPath("n")))])
        var failure: (any Error)?
        do { try await body(client, query) } catch { failure = error }
        await client.terminate()
        await connection.shutdown()
        if let failure { throw failure }
    }

    private static func paths(_ count: Int) throws -> [DocumentPath] {
        try (0..<count).map { try DocumentPath("c/x\($0)") }
    }

    @Test func `Other calls do not wait for the scan of many documents`() async throws {
        let paths = try Self.paths(5_000)
        try await withClient(paths) { _ in
            .unavailable(retryAfter: "300")
        } _: { client, query in
            let order = Mutex<[String]>([])
            let (ends, end) = AsyncStream.makeStream(of: Void.self)
            // Everything is submitted before anything runs.
            let start = DispatchSemaphore(value: 0)
            client.submit { _ in start.wait() }
            let receive: @Sendable (Result<SyncSnapshot, StatusError>) -> Void = { result in
                let count = (try? result.get().view.documents.count) ?? 0
                order.withLock { $0.append("\(count) documents") }
                end.yield()
            }
            _ = client.listen(to: try ViewQuery(query), ListenOptions(isCacheOnly: true), ended: {}, receive)
            client.write(
                [.delete(paths[0])],
                for: nil,
                queued: { error in
                    order.withLock { $0.append(error == nil ? "queued" : "\(String(describing: error))") }
                    end.yield()
                },
                completed: nil
            )
            start.signal()
            for await _ in ends.prefix(2) {}
            // The write is in the result of the listener, although it came later.
            #expect(order.withLock(\.self) == ["queued", "4999 documents"])
        }
    }

    @Test func `Other calls do not wait for the refill of a result with a limit`() async throws {
        let paths = try Self.paths(5_000)
        try await withClient(paths) { _ in
            .unavailable(retryAfter: "300")
        } _: { client, query in
            let order = Mutex<[String]>([])
            let (ends, end) = AsyncStream.makeStream(of: Void.self)
            var ended = ends.makeAsyncIterator()
            var limited = query
            limited.limit = .first(10)
            let receive: @Sendable (Result<SyncSnapshot, StatusError>) -> Void = { result in
                let documents = (try? result.get().view.documents) ?? []
                order.withLock { $0.append("\(documents.count) documents") }
                end.yield()
            }
            _ = client.listen(to: try ViewQuery(limited), ListenOptions(isCacheOnly: true), ended: {}, receive)
            await ended.next()
            let shown = try #require(await client.firstResult)
            // Both are submitted before anything runs.
            let start = DispatchSemaphore(value: 0)
            client.submit { _ in start.wait() }
            let other = try DocumentPath("other/a")
            for (number, path) in [shown, other].enumerated() {
                client.write(
                    [.delete(path)],
                    for: nil,
                    queued: { _ in
                        order.withLock { $0.append("queued \(number)") }
                        end.yield()
                    },
                    completed: nil
                )
            }
            start.signal()
            for _ in 0..<3 { await ended.next() }
            #expect(order.withLock(\.self) == ["10 documents", "queued 0", "queued 1", "10 documents"])
        }
    }

    @Test func `The answer of the server does not wait for the scan of what it lacks`() async throws {
        let result = #"{"documents":[],"readTime":"2025-01-02T03:04:05.000000Z"}"#
        try await withClient(Self.paths(20_000)) { request in
            guard request.body.contains("query.run") else { return .unavailable(retryAfter: "300") }
            let response = #"{"jsonrpc":"2.0","id":0,"result":\#(result)}"#
            return .json(status: 200, request.body.hasPrefix("[") ? "[\(response)]" : response)
        } _: { client, query in
            // Tasks may have to wait for their threads longer than a scan takes.
            for _ in 0..<20 {
                let (answers, answer) = AsyncStream.makeStream(of: (documentCount: Int, scanCount: Int)?.self)
                client.submit { client in
                    Task {
                        let result = try? await client.result(of: query, NormalizedQuery(query), from: .server)
                        answer.yield(result.map { ($0.view.documents.count, client.scanCount) })
                    }
                }
                var iterator = answers.makeAsyncIterator()
                let first = try #require(await iterator.next() ?? nil)
                #expect(first.documentCount == 0)
                while await client.scanCount > 0 { await Task.yield() }
                // Steps were still to come, which find the documents that the server no longer has.
                if first.scanCount == 1 { return }
            }
            Issue.record("Each answer waited for the scan")
        }
    }

    @Test func `A read of the cache ends when the user changes`() async throws {
        try await withClient(Self.paths(5_000)) { _ in
            .unavailable(retryAfter: "300")
        } _: { client, query in
            let (reads, read) = AsyncStream.makeStream(of: Task<Int, any Error>.self)
            client.submit { client in
                // Its first step comes before the change of the user, the others come later.
                read.yield(Task { try await client.result(of: query, NormalizedQuery(query), from: .cache).view.documents.count })
                client.changeUser(to: UserID("ada"))
            }
            var iterator = reads.makeAsyncIterator()
            let task = try #require(await iterator.next())
            let error = await #expect(throws: StatusError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }
    }
}

extension SyncClient {
    /// The number of scans of the cache under way.
    fileprivate var scanCount: Int { engine.store.scans.count }

    /// The first document that a view shows.
    fileprivate var firstResult: DocumentPath? { engine.views.values.first?.view.shownDocuments.first?.path }
}
