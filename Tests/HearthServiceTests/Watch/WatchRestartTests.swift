import DocumentModel
import DocumentStore
import Foundation
import HearthService
import Logging
import StrictJSON
import Testing

/// Streams that go on after the server was stopped and started again.
@Suite(.timeLimit(.minutes(1))) struct WatchRestartTests {
    @Test("A token is good after a restart: what was committed after it is told, before and after the restart")
    func resumesAfterRestart() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let target = WatchTarget.collection(try CollectionPath("c"))
        var replica = WatchReplica()

        let first = try await Self.open(folder)
        _ = try await first.commit([.set(DocumentPath("c/a"), ["v": .integer(1)])])
        try await WatchSession(WatchRequest(target: target), in: ServiceContext(store: first)).follow(into: &replica) {
            $0.isCurrent
        }
        _ = try await first.commit([.set(DocumentPath("c/a"), ["v": .integer(2)])])
        await first.close()

        let second = try await Self.open(folder)
        _ = try await second.commit([.delete(DocumentPath("c/a")), .set(DocumentPath("c/b"), ["v": .integer(3)])])
        replica.resume()
        let request = WatchRequest(target: target, resume: replica.token, onExpired: .fail)
        try await WatchSession(request, in: ServiceContext(store: second)).follow(into: &replica) { $0.log.last == "checkpoint" }
        await second.close()

        #expect(
            replica.log == ["open", "added a 1", "current 1", "open", "modified a 2", "deleted a", "added b 3", "checkpoint"]
        )
        #expect(replica.faults.isEmpty)
    }

    private static func open(_ folder: String) async throws -> FileStore {
        try await FileStore.open(
            FileStoreConfiguration(folder: folder),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
    }
}
