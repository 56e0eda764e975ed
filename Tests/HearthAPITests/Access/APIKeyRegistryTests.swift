import DocumentModel
import DocumentStore
import DocumentStoreConformance
import FileStore
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("API keys of a data folder")
struct APIKeyRegistryTests {
    private let folder: TemporaryFolder
    private let clock = TestClock()
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open() async throws -> APIKeyRegistry {
        try await APIKeyRegistry.open(.open(.keys, inFolder: folder["data"], creatingFolder: true), logger: logger) {
            [clock] in clock.now
        }
    }

    private func attributes(
        _ role: Role = .reader,
        label: String = "",
        collections: [CollectionPath]? = nil,
        expireTime: Timestamp? = nil
    ) throws -> APIKey.Attributes {
        try APIKey.Attributes(role: role, label: label, collections: collections, expireTime: expireTime, now: clock.now)
    }

    @Test
    func `A caller authenticates with a key and gets its rights`() async throws {
        let keys = try await open()
        #expect(!keys.requiresKeys)
        let (key, text) = try await keys.create(attributes(.writer, collections: [CollectionPath("books")]))
        #expect(keys.requiresKeys)
        let caller = try keys.authenticate(Array(text.utf8))
        #expect(caller.role == .writer)
        #expect(caller.keyID == key.id)
        #expect(caller.collections == [try CollectionPath("books")])
        #expect(try await open().authenticate(Array(text.utf8)) == caller)
    }

    @Test
    func `The file is human-readable, has owner-only permissions and does not contain the secret`() async throws {
        let keys = try await open()
        let (key, text) = try await keys.create(attributes(label: "büro \"1\""))
        let file = try folder.text(of: "data/keys.json")
        let parsed = try #require(APIKeyText(Array(text.utf8)))
        #expect(
            file == """
                {"format":1,"keys":[
                {"id":"\(key.id)","label":"büro \\"1\\"","role":"reader","createTime":"\(clock.now)","sha256":"\(parsed.digest.hexadecimal)"}
                ]}

                """
        )
        #expect(!file.contains(text.suffix(64)))
        let attributes = try FileManager.default.attributesOfItem(atPath: folder["data/keys.json"])
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try folder.names(in: "data") == ["keys.json", "keys.json.lock"])
    }

    @Test
    func `The JSON of a key does not contain its secret`() async throws {
        let keys = try await open()
        let (_, text) = try await keys.create(attributes())
        for key in keys.all {
            let json = String(decoding: key.json, as: UTF8.self)
            #expect(!json.contains(text.suffix(64)))
            #expect(!json.contains("sha256"))
        }
    }

    @Test
    func `A key with a wrong secret or ID, or a revoked key, is rejected`() async throws {
        let keys = try await open()
        let (key, text) = try await keys.create(attributes())
        let (_, other) = try await keys.create(attributes())
        for wrong in [text.prefix(17) + other.dropFirst(17), text.dropLast() + (text.hasSuffix("0") ? "1" : "0")] {
            #expect(rejection(of: String(wrong), by: keys) == "unknown")
        }
        #expect(rejection(of: nil, by: keys) == "missing")
        try await keys.revoke(key.id)
        #expect(rejection(of: text, by: keys) == "unknown")
        #expect(rejection(of: other, by: keys) == nil)
        #expect(rejection(of: text, by: try await open()) == "unknown")
    }

    @Test
    func `A key expires at its expiry time`() async throws {
        let keys = try await open()
        let time = clock.now.later(seconds: 60)
        let (_, text) = try await keys.create(attributes(expireTime: time))
        clock.advance(seconds: 59)
        #expect(rejection(of: text, by: keys) == nil)
        clock.advance(seconds: 1)
        #expect(rejection(of: text, by: keys) == "expired")
        #expect(!keys.hasValidKey)
        #expect(keys.requiresKeys)
    }

    @Test
    func `Changes by one process are picked up by another`() async throws {
        let (server, command) = (try await open(), try await open())
        let (key, text) = try await command.create(attributes())
        #expect(!server.requiresKeys)
        await server.refresh()
        #expect(rejection(of: text, by: server) == nil)
        let (_, second) = try await server.create(attributes())
        await command.refresh()
        #expect(command.all.count == 2)
        try await command.revoke(key.id)
        await server.refresh()
        #expect(rejection(of: text, by: server) == "unknown")
        #expect(rejection(of: second, by: server) == nil)
    }

    @Test
    func `Concurrent changes by several processes are all kept`() async throws {
        let registries = [try await open(), try await open(), try await open()]
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for registry in registries {
                for _ in 0..<10 { tasks.addTask { _ = try await registry.create(attributes()) } }
            }
            try await tasks.waitForAll()
        }
        #expect(try await open().all.count == 30)
    }

    @Test
    func `The last-use time is saved and survives changes by other processes`() async throws {
        let server = try await open()
        let (key, text) = try await server.create(attributes())
        #expect(server.all.first?.lastUseTime == nil)
        clock.advance(seconds: 5)
        let time = clock.now
        _ = try server.authenticate(Array(text.utf8))
        #expect(server.all.first?.lastUseTime == time)
        let maintenance = Task { await server.runMaintenance() }
        maintenance.cancel()
        await maintenance.value
        let command = try await open()
        #expect(command.all.first?.lastUseTime == time)
        _ = try await command.create(attributes())
        #expect(try await open().all.first { $0.id == key.id }?.lastUseTime == time)
    }

    @Test(
        arguments: [
            "", "{", "[]", #"{"format":1}"#, #"{"format":1,"keys":[{}]}"#, #"{"format":1,"keys":[{"id":"a","role":"root"}]}"#,
            #"{"format":1,"keys":[{"id":"a","role":"admin","createTime":"2026-01-01T00:00:00Z","sha256":"ab"}]}"#,
            #"{"format":1,"keys":[{"id":"a","role":"admin","createTime":"2026-01-01T00:00:00Z","collections":[],"sha256":"\#(zeros)"}]}"#,
            #"{"format":1,"keys":[{"id":"a","role":"reader","createTime":"2026-01-01T00:00:00Z","expireTime":7,"sha256":"\#(zeros)"}]}"#,
        ]
    )
    func `A damaged file is rejected, and the previous keys remain valid`(text: String) async throws {
        let keys = try await open()
        let (_, key) = try await keys.create(attributes())
        try folder.write(text, to: "data/keys.json")
        await keys.refresh()
        #expect(rejection(of: key, by: keys) == nil)
        let error = await #expect(throws: StatusError.self) { try await open() }
        #expect(error?.code == .dataLoss)
        #expect(error?.file?.path == "keys.json")
        await #expect(throws: StatusError.self) { try await keys.create(attributes()) }
        #expect(try folder.text(of: "data/keys.json") == text)
    }

    private static let zeros = String(repeating: "0", count: 64)

    @Test
    func `A file in a newer format is rejected`() async throws {
        try folder.write(#"{"format":2,"keys":[]}"#, to: "data/keys.json")
        let error = await #expect(throws: StatusError.self) { try await open() }
        #expect(error?.code == .failedPrecondition)
    }

    @Test
    func `Keys remain required after the last one is revoked and after the file is deleted`() async throws {
        let keys = try await open()
        let (key, text) = try await keys.create(attributes())
        try await keys.revoke(key.id)
        #expect(rejection(of: nil, by: keys) == "missing")
        #expect(rejection(of: nil, by: try await open()) == "missing")
        try folder.remove("data/keys.json")
        await keys.refresh()
        #expect(rejection(of: text, by: keys) == "unknown")
        #expect(rejection(of: nil, by: keys) == "missing")
        #expect(rejection(of: nil, by: try await open()) == nil)
    }

    @Test
    func `A newly created key is valid immediately, unless the network has exceeded its failure limit`() async throws {
        _ = try await open().create(attributes())
        let keys = try await open()
        let text = Array(try await open().create(attributes()).text.utf8)
        let instant = ContinuousClock.now
        let failures = FailedAttemptLimiter(limit: 1) { instant }
        #expect(failures.recordFailure(from: "here") == nil)
        await #expect(throws: APIKeyRegistry.AuthenticationError.self) {
            try await keys.authenticate(text, from: "here", failures: failures)
        }
        _ = try await keys.authenticate(text, from: "elsewhere", failures: failures)
        _ = try await keys.authenticate(text, from: "here", failures: failures)
    }

    @Test
    func `Deletion of the file is logged once`() async throws {
        _ = try await open().create(attributes())
        let log = Log()
        let keys = try await APIKeyRegistry.open(
            .open(.keys, inFolder: folder["data"]),
            logger: Logger(label: "test") { _ in log.handler }
        )
        try folder.remove("data/keys.json")
        for _ in 0..<3 { await keys.refresh() }
        #expect(log.all.count == 1)
        #expect(log.all.first?.contains("deleted") == true)
    }

    @Test
    func `Observers are notified once when a caller becomes invalid, or immediately if it is`() async throws {
        let keys = try await open()
        let log = Log()
        let openAccess = try keys.authenticate([UInt8]?.none)
        let first = keys.onRevocation(of: openAccess) { log.add("open access") }
        let (key, text) = try await keys.create(attributes())
        #expect(log.all == ["open access"])
        let (_, aging) = try await keys.create(attributes(expireTime: clock.now.later(seconds: 10)))
        let caller = try keys.authenticate(Array(text.utf8))
        let second = keys.onRevocation(of: caller) { log.add("revoked") }
        let third = keys.onRevocation(of: try keys.authenticate(Array(aging.utf8))) { log.add("expired") }
        var released: RevocationObservation? = keys.onRevocation(of: caller) { log.add("released") }
        withExtendedLifetime(released) {}
        released = nil
        await keys.refresh()
        #expect(log.all == ["open access"])
        try await keys.revoke(key.id)
        #expect(log.all == ["open access", "revoked"])
        clock.advance(seconds: 10)
        await keys.refresh()
        #expect(log.all == ["open access", "revoked", "expired"])
        let late = keys.onRevocation(of: caller) { log.add("late") }
        #expect(log.all == ["open access", "revoked", "expired", "late"])
        withExtendedLifetime((first, second, third, late)) {}
    }

    @Test
    func `A waiting poll fails when its key is revoked`() async throws {
        let keys = try await open()
        let (key, text) = try await keys.create(attributes())
        let store = MemoryStore()
        let context = ServiceContext(store: store, keys: keys).withCaller(try keys.authenticate(Array(text.utf8)))
        var params = PollChanges.Params(
            target: .collection(try CollectionPath("c")),
            wait: .seconds(30),
            limit: 1,
            contents: .document,
            coalesces: false
        )
        params.resume = try await PollChanges.call(params, in: context).token
        let poll = Task { [params] in try await PollChanges.call(params, in: context) }
        while store.notificationCount == 0 { await Task.yield() }
        try await keys.revoke(key.id)
        let error = await #expect(throws: StatusError.self) { try await poll.value }
        #expect(error?.code == .unauthenticated)
    }

    @Test
    func `Editing a key in the file invalidates its callers`() async throws {
        let keys = try await open()
        let log = Log()
        let (_, text) = try await keys.create(attributes(.writer))
        let observation = keys.onRevocation(of: try keys.authenticate(Array(text.utf8))) { log.add("end") }
        let file = try folder.text(of: "data/keys.json")
        try folder.write(file.replacingOccurrences(of: "writer", with: "reader"), to: "data/keys.json")
        await keys.refresh()
        #expect(log.all == ["end"])
        #expect(try keys.authenticate(Array(text.utf8)).role == .reader)
        withExtendedLifetime(observation) {}
    }

    @Test
    func `The first key can be created in a new data folder, but not in an unrelated folder`() async throws {
        _ = try await open().create(attributes())
        let store = try await FileStore.open(FileStoreConfiguration(folder: folder["data"]), logger: logger)
        #expect(await store.close() == nil)
        try folder.write("mine", to: "other/thesis.tex")
        await #expect(throws: StatusError.self) {
            try await APIKeyRegistry.open(.open(.keys, inFolder: folder["other"], creatingFolder: true), logger: logger)
        }
        let missing = await #expect(throws: StatusError.self) {
            try await APIKeyRegistry.open(.open(.keys, inFolder: folder["none"]), logger: logger)
        }
        #expect(missing?.code == .notFound)
        #expect(!folder.exists("none"))
    }

    @Test
    func `Invalid attributes are rejected`() throws {
        let books = try CollectionPath("books")
        #expect(throws: StatusError.self) { try attributes(.admin, collections: [books]) }
        #expect(throws: StatusError.self) { try attributes(collections: []) }
        #expect(throws: StatusError.self) { try attributes(collections: Array(repeating: books, count: 101)) }
        #expect(throws: StatusError.self) { try attributes(expireTime: clock.now) }
        #expect(throws: StatusError.self) { try attributes(label: String(repeating: "a", count: 201)) }
        #expect(throws: StatusError.self) { try attributes(label: APIKeyText().string) }
        _ = try attributes(label: String(repeating: "a", count: 200))
    }

    private func rejection(of text: String?, by keys: APIKeyRegistry) -> String? {
        do throws(APIKeyRegistry.AuthenticationError) {
            _ = try keys.authenticate(text.map { Array($0.utf8) })
            return nil
        } catch {
            return switch error {
            case .missing: "missing"
            case .unknown: "unknown"
            case .expired: "expired"
            }
        }
    }
}

private final class TestClock: Sendable {
    private let time = Mutex(Timestamp.current())

    var now: Timestamp { time.withLock { $0 } }

    func advance(seconds: Int64) {
        time.withLock { $0 = $0.later(seconds: seconds) }
    }
}

private final class Log: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock { $0 } }

    func add(_ text: String) {
        texts.withLock { $0.append(text) }
    }

    /// A log handler that appends messages.
    var handler: Handler { Handler(log: self) }

    struct Handler: LogHandler {
        let log: Log
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.notice

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { log.add("\(event.message)") }
    }
}

extension Timestamp {
    fileprivate func later(seconds: Int64) -> Timestamp {
        (try? Timestamp(microseconds: microseconds + seconds * 1_000_000)) ?? self
    }
}
