import DocumentModel
import DocumentStore
import FileStore
import Foundation
import HearthAPI
import Logging
import Testing
import UTF8Text

@Suite("Resuming after a restart", .timeLimit(.minutes(10))) struct WatchRestartTests {
    @Test
    func `A stream resumed after a restart gets the commits before and after the restart`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let target = PreparedWatchTarget.collection(try CollectionPath("c"))
        var replica = WatchReplica()

        let first = try await Self.open(folder)
        _ = try await first.commit([.set(DocumentPath("c/a"), ["v": .integer(1)])])
        try await WatchSession(WatchRequest(target: target), in: ServiceContext(store: first)).follow(into: &replica) {
            $0.isCurrent
        }
        _ = try await first.commit([.set(DocumentPath("c/a"), ["v": .integer(2)])])
        // A commit without effect has a commit time but no sequence number.
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
        #expect(replica.violations.isEmpty)
    }

    @Test
    func `After a data folder is restored from a copy, streams from after the copy are reset`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-\(UUID().uuidString)").path
        defer { for path in [folder, folder + ".copy"] { try? FileManager.default.removeItem(atPath: path) } }
        let target = PreparedWatchTarget.collection(try CollectionPath("c"))

        let first = try await Self.open(folder)
        for id in 1...3 { _ = try await first.commit([.set(DocumentPath("c/\(id)"), ["v": .integer(1)])]) }
        var early = WatchReplica()
        try await WatchSession(WatchRequest(target: target), in: ServiceContext(store: first)).follow(into: &early) {
            $0.isCurrent
        }
        await first.close()
        try FileManager.default.copyItem(atPath: folder, toPath: folder + ".copy")

        let second = try await Self.open(folder)
        for id in 4...6 { _ = try await second.commit([.set(DocumentPath("c/\(id)"), ["v": .integer(1)])]) }
        var late = WatchReplica()
        try await WatchSession(WatchRequest(target: target), in: ServiceContext(store: second)).follow(into: &late) {
            $0.isCurrent
        }
        await second.close()
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.moveItem(atPath: folder + ".copy", toPath: folder)

        let restored = try await Self.open(folder)
        let context = ServiceContext(store: restored)
        // With fewer commits than the token's, as many, and more.
        for count in 2...4 {
            let missing = 3 + count - Int(restored.position.lastSequence.rawValue)
            for _ in 0..<missing { _ = try await restored.commit([.set(DocumentPath("c/\(UUID())"), ["v": .integer(2)])]) }
            var replica = WatchReplica()
            try await WatchSession(WatchRequest(target: target, resume: late.token), in: context).follow(into: &replica) {
                $0.isCurrent
            }
            #expect(replica.log.prefix(2) == ["open", "reset restored"])
            #expect(replica.documents.count == 3 + count && replica.violations.isEmpty)
            let strict = WatchRequest(target: target, resume: late.token, onExpired: .fail)
            await #expect(throws: StatusError.self) { try await WatchSession(strict, in: context) }
        }
        // Tokens from before the copy remain valid.
        early.resume()
        let request = WatchRequest(target: target, resume: early.token, onExpired: .fail)
        try await WatchSession(request, in: context).follow(into: &early) { $0.log.last == "checkpoint" }
        #expect(early.documents.count == 7 && early.violations.isEmpty)
        await restored.close()
    }

    private static func open(_ folder: String) async throws -> FileStore {
        try await FileStore.open(
            FileStoreConfiguration(folder: folder),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
    }
}
