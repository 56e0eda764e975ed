import DocumentModel
import Synchronization
import Testing

@testable import HearthTransport

@Suite("Document read batcher", .timeLimit(.minutes(10)))
struct DocumentReadBatcherTests {
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
    private let reads = DocumentReadBatcher<Document?>(maximumRequests: 2)

    private func read(_ path: String) async throws(StatusError) -> Document? {
        try await reads.document(at: try DocumentPath(path)) { [server] in await server.respond(to: $0) }
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
}
