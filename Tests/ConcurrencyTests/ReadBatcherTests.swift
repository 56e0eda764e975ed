import Concurrency
import DocumentModel
import Synchronization
import Testing

@Suite("Reads that share requests", .timeLimit(.minutes(10)))
struct ReadBatcherTests {
    /// A mock server that holds its responses until opened.
    ///
    /// Documents in collections starting with `m` are missing, with `f` fail.
    private final class Server: Sendable {
        private struct State {
            var requests: [[DocumentPath]] = []
            var held: [CheckedContinuation<Void, Never>] = []
            var isOpen = false
        }

        private let state = Mutex(State())

        var requests: [[DocumentPath]] { state.withLock(\.requests) }

        func respond(to paths: [DocumentPath]) async -> [Result<Document?, StatusError>] {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    state.requests.append(paths)
                    if !state.isOpen { state.held.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
            return paths.map { path in
                switch path.collection.string.utf8.first {
                case UInt8(ascii: "m"): .success(nil)
                case UInt8(ascii: "f"): .failure(StatusError(.dataLoss, "damaged", path: path.string))
                default: .success(Document(path: path, fields: [:], createTime: .minimum, updateTime: .minimum))
                }
            }
        }

        /// Responds to all held requests, and immediately to later ones.
        func open() {
            let held = state.withLock { state in
                state.isOpen = true
                defer { state.held = [] }
                return state.held
            }
            for continuation in held { continuation.resume() }
        }
    }

    private let server = Server()
    private typealias Batcher = ReadBatcher<DocumentPath, Document?, StatusError>

    private let reads = batcher(Batcher.Limits(requestCount: 2, readCount: 100))

    private static func batcher(_ limits: Batcher.Limits) -> Batcher {
        Batcher(limits: limits) { refusal in
            switch refusal {
            case .cancelled: StatusError(.cancelled, "The call was cancelled.")
            case .queueCount: StatusError(.resourceExhausted, "The queue is full.")
            case .queueTime: StatusError(.unavailable, "The read was in the queue for too long.")
            }
        }
    }

    private func read(_ path: String) async throws(StatusError) -> Document? {
        try await reads.value(for: try DocumentPath(path)) { [server] in await server.respond(to: $0) }
    }

    private func outcome(of path: String) async -> String {
        do throws(StatusError) {
            return try await read(path)?.path.string ?? "nil"
        } catch {
            return "failed \(error.path ?? "")"
        }
    }

    /// Waits until `count` requests have been sent.
    private func waitForRequests(_ count: Int) async {
        while server.requests.count < count { await Task.yield() }
    }

    @Test func `Sends reads individually while few requests are pending`() async throws {
        server.open()
        #expect(try await read("a/1")?.path.string == "a/1")
        #expect(try await read("m/1") == nil)
        let error = await #expect(throws: StatusError.self) { try await read("f/1") }
        #expect(error?.code == .dataLoss)
        #expect(server.requests.map(\.count) == [1, 1, 1])
    }

    @Test func `Combines many concurrent reads and returns each one its result`() async throws {
        await withTaskGroup { group in
            for number in 0..<300 {
                let path = "\(["a", "m", "f"][number % 3])/\(number)"
                group.addTask { (path, await outcome(of: path)) }
            }
            await waitForRequests(2)
            server.open()
            for await (path, outcome) in group {
                #expect(outcome == (path.hasPrefix("m") ? "nil" : path.hasPrefix("f") ? "failed \(path)" : path))
            }
        }
        let counts = server.requests.map(\.count)
        #expect(counts.prefix(2) == [1, 1])
        #expect(counts.reduce(0, +) == 300)
        #expect(counts.allSatisfy { $0 <= 100 })
        // Afterward, reads are sent individually again.
        _ = try await read("a/1")
        #expect(server.requests.last?.count == 1)
    }

    @Test func `A cancelled queued read fails immediately without affecting others`() async throws {
        let first = [Task { try await read("a/1") }, Task { try await read("a/2") }]
        await waitForRequests(2)
        let cancelled = Task { try await read("a/3") }
        let other = Task { try await read("a/4") }
        cancelled.cancel()
        let error = await #expect(throws: StatusError.self) { try await cancelled.value }
        #expect(error?.code == .cancelled)
        server.open()
        #expect(try await other.value?.path.string == "a/4")
        for task in first { _ = try await task.value }
        #expect(!server.requests.joined().contains(try DocumentPath("a/3")))
    }

    @Test
    func `Reads beyond the limit of the queue fail at once, and those that are in it for too long after that time`() async throws
    {
        let reads = Self.batcher(Batcher.Limits(requestCount: 1, readCount: 100, queueCount: 2, queueTime: .milliseconds(10)))
        let read = { @Sendable [server] () async throws(StatusError) in
            try await reads.value(for: try DocumentPath("a/1")) { await server.respond(to: $0) }
        }
        let first = Task { try await read() }
        await waitForRequests(1)
        let queued = (0..<2).map { _ in Task { try await read() } }
        while reads.queueCount < 2 { await Task.yield() }
        let refused = await #expect(throws: StatusError.self) { try await read() }
        #expect(refused?.code == .resourceExhausted)
        // The request in progress has no end yet.
        for task in queued {
            let error = await #expect(throws: StatusError.self) { try await task.value }
            #expect(error?.code == .unavailable)
        }
        #expect(reads.queueCount == 0)
        server.open()
        #expect(try await first.value?.path.string == "a/1")
        #expect(try await read()?.path.string == "a/1")
    }

    @Test func `Cancelled reads take no place in the queue`() async throws {
        let reads = Self.batcher(Batcher.Limits(requestCount: 1, readCount: 100, queueCount: 2))
        let read = { @Sendable [server] () async throws(StatusError) in
            try await reads.value(for: try DocumentPath("a/1")) { await server.respond(to: $0) }
        }
        let first = Task { try await read() }
        await waitForRequests(1)
        let cancelled = (0..<2).map { _ in Task { try await read() } }
        while reads.queueCount < 2 { await Task.yield() }
        for task in cancelled {
            task.cancel()
            _ = await task.result
        }
        let next = Task { try await read() }
        while reads.queueCount != 1 { await Task.yield() }
        server.open()
        #expect(try await next.value?.path.string == "a/1")
        #expect(try await first.value?.path.string == "a/1")
    }
}
