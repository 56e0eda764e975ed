import DocumentModel
import DocumentStore
import Foundation
import Logging
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import HearthService

/// Keys in the file of a data folder.
@Suite("The keys of a data folder")
struct AccessKeysTests {
    private let folder: TemporaryFolder
    private let clock = TestClock()
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open() async throws -> AccessKeys {
        try await AccessKeys.open(inFolder: folder["data"], makingFolder: true, logger: logger) { [clock] in clock.now }
    }

    private func description(
        _ role: Role = .reader,
        label: String = "",
        collections: [CollectionPath]? = nil,
        expireTime: Timestamp? = nil
    ) throws -> AccessKey.Description {
        try AccessKey.Description(role: role, label: label, collections: collections, expireTime: expireTime, now: clock.now)
    }

    @Test("A key is known by its text, with what it allows")
    func key() async throws {
        let keys = try await open()
        #expect(!keys.areRequired)
        let (key, text) = try await keys.create(description(.writer, collections: [CollectionPath("books")]))
        #expect(keys.areRequired)
        let caller = try keys.caller(showing: Array(text.utf8))
        #expect(caller.role == .writer)
        #expect(caller.keyID == key.id)
        #expect(caller.collections == [try CollectionPath("books")])
        #expect(try await open().caller(showing: Array(text.utf8)) == caller)
    }

    @Test("The file is readable for its owner alone, and for a person; and has nothing of the secret")
    func file() async throws {
        let keys = try await open()
        let (key, text) = try await keys.create(description(label: "büro \"1\""))
        let file = try folder.text(of: "data/keys.json")
        let secret = try #require(KeySecret(Array(text.utf8)))
        #expect(
            file == """
                {"format":1,"keys":[
                {"id":"\(key.id)","label":"büro \\"1\\"","role":"reader","createTime":"\(clock.now)","sha256":"\(secret.digest.hexadecimal)"}
                ]}

                """
        )
        #expect(!file.contains(text.suffix(64)))
        let attributes = try FileManager.default.attributesOfItem(atPath: folder["data/keys.json"])
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try folder.names(in: "data") == ["keys.json", "keys.json.lock"])
    }

    @Test("A key's text is nowhere in what is told of the key")
    func list() async throws {
        let keys = try await open()
        let (_, text) = try await keys.create(description())
        for key in keys.all {
            let json = String(decoding: key.json, as: UTF8.self)
            #expect(!json.contains(text.suffix(64)))
            #expect(!json.contains("sha256"))
        }
    }

    @Test("A key with another secret, another ID, or revoked is not known")
    func unknown() async throws {
        let keys = try await open()
        let (key, text) = try await keys.create(description())
        let (_, other) = try await keys.create(description())
        for wrong in [text.prefix(17) + other.dropFirst(17), text.dropLast() + (text.hasSuffix("0") ? "1" : "0")] {
            #expect(refusal(of: String(wrong), by: keys) == "unknown")
        }
        #expect(refusal(of: nil, by: keys) == "missing")
        try await keys.revoke(key.id)
        #expect(refusal(of: text, by: keys) == "unknown")
        #expect(refusal(of: other, by: keys) == nil)
        #expect(refusal(of: text, by: try await open()) == "unknown")
    }

    @Test("A key expires at its time, and not before")
    func expiry() async throws {
        let keys = try await open()
        let time = clock.now.later(seconds: 60)
        let (_, text) = try await keys.create(description(expireTime: time))
        clock.advance(seconds: 59)
        #expect(refusal(of: text, by: keys) == nil)
        clock.advance(seconds: 1)
        #expect(refusal(of: text, by: keys) == "expired")
        #expect(!keys.isAnyValid)
        #expect(keys.areRequired)
    }

    @Test("What one process changes, another takes over")
    func sharing() async throws {
        let (server, command) = (try await open(), try await open())
        let (key, text) = try await command.create(description())
        #expect(!server.areRequired)
        await server.refresh()
        #expect(refusal(of: text, by: server) == nil)
        let (_, second) = try await server.create(description())
        await command.refresh()
        #expect(command.all.count == 2)
        try await command.revoke(key.id)
        await server.refresh()
        #expect(refusal(of: text, by: server) == "unknown")
        #expect(refusal(of: second, by: server) == nil)
    }

    @Test("Changes of several processes at the same moment are all kept")
    func concurrency() async throws {
        let places = [try await open(), try await open(), try await open()]
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for place in places {
                for _ in 0..<10 { tasks.addTask { _ = try await place.create(description()) } }
            }
            try await tasks.waitForAll()
        }
        #expect(try await open().all.count == 30)
    }

    @Test("When a key was used is kept, also by who did not see it")
    func lastUse() async throws {
        let server = try await open()
        let (key, text) = try await server.create(description())
        #expect(server.all.first?.lastUseTime == nil)
        clock.advance(seconds: 5)
        let time = clock.now
        _ = try server.caller(showing: Array(text.utf8))
        #expect(server.all.first?.lastUseTime == time)
        let following = Task { await server.follow() }
        following.cancel()
        await following.value
        let command = try await open()
        #expect(command.all.first?.lastUseTime == time)
        _ = try await command.create(description())
        #expect(try await open().all.first { $0.id == key.id }?.lastUseTime == time)
    }

    @Test(
        "A damaged file is refused with its place, and leaves the keys that were known in force",
        arguments: [
            "", "{", "[]", #"{"format":1}"#, #"{"format":1,"keys":[{}]}"#, #"{"format":1,"keys":[{"id":"a","role":"root"}]}"#,
            #"{"format":1,"keys":[{"id":"a","role":"admin","createTime":"2026-01-01T00:00:00Z","sha256":"ab"}]}"#,
            #"{"format":1,"keys":[{"id":"a","role":"admin","createTime":"2026-01-01T00:00:00Z","collections":[],"sha256":"\#(zeros)"}]}"#,
            #"{"format":1,"keys":[{"id":"a","role":"reader","createTime":"2026-01-01T00:00:00Z","expireTime":7,"sha256":"\#(zeros)"}]}"#,
        ]
    )
    func damage(text: String) async throws {
        let keys = try await open()
        let (_, key) = try await keys.create(description())
        try folder.write(text, to: "data/keys.json")
        await keys.refresh()
        #expect(refusal(of: key, by: keys) == nil)
        let error = await #expect(throws: StatusError.self) { try await open() }
        #expect(error?.code == .dataLoss)
        #expect(error?.file?.path == "keys.json")
        await #expect(throws: StatusError.self) { try await keys.create(description()) }
        #expect(try folder.text(of: "data/keys.json") == text)
    }

    private static let zeros = String(repeating: "0", count: 64)

    @Test("A file of a newer Hearth is refused")
    func newer() async throws {
        try folder.write(#"{"format":2,"keys":[]}"#, to: "data/keys.json")
        let error = await #expect(throws: StatusError.self) { try await open() }
        #expect(error?.code == .failedPrecondition)
    }

    @Test("Keys stay needed when the last was revoked, and when the file was removed")
    func required() async throws {
        let keys = try await open()
        let (key, text) = try await keys.create(description())
        try await keys.revoke(key.id)
        #expect(refusal(of: nil, by: keys) == "missing")
        #expect(refusal(of: nil, by: try await open()) == "missing")
        try folder.remove("data/keys.json")
        await keys.refresh()
        #expect(refusal(of: text, by: keys) == "unknown")
        #expect(refusal(of: nil, by: keys) == "missing")
        #expect(refusal(of: nil, by: try await open()) == nil)
    }

    @Test("A key that was made a moment ago is known at once, unless too many unknown ones have come from there")
    func madeMeanwhile() async throws {
        _ = try await open().create(description())
        let keys = try await open()
        let text = Array(try await open().create(description()).text.utf8)
        let instant = ContinuousClock.now
        let failures = FailedAttempts(limit: 1) { instant }
        #expect(failures.note(from: "here") == nil)
        await #expect(throws: AccessKeys.Refusal.self) { try await keys.caller(showing: text, from: "here", failures: failures) }
        _ = try await keys.caller(showing: text, from: "elsewhere", failures: failures)
        _ = try await keys.caller(showing: text, from: "here", failures: failures)
    }

    @Test("That the file was removed is logged once")
    func removal() async throws {
        _ = try await open().create(description())
        let log = Log()
        let keys = try await AccessKeys.open(inFolder: folder["data"], logger: Logger(label: "test") { _ in log.handler })
        try folder.remove("data/keys.json")
        for _ in 0..<3 { await keys.refresh() }
        #expect(log.all.count == 1)
        #expect(log.all.first?.contains("gone") == true)
    }

    @Test("Who has no valid key any more is told of once, and at once when it is so already")
    func endings() async throws {
        let keys = try await open()
        let log = Log()
        let anybody = try keys.caller(showing: [UInt8]?.none)
        let first = keys.onEnd(of: anybody) { log.add("anybody") }
        let (key, text) = try await keys.create(description())
        #expect(log.all == ["anybody"])
        let (_, aging) = try await keys.create(description(expireTime: clock.now.later(seconds: 10)))
        let caller = try keys.caller(showing: Array(text.utf8))
        let second = keys.onEnd(of: caller) { log.add("revoked") }
        let third = keys.onEnd(of: try keys.caller(showing: Array(aging.utf8))) { log.add("expired") }
        var forgotten: EndingObservation? = keys.onEnd(of: caller) { log.add("forgotten") }
        withExtendedLifetime(forgotten) {}
        forgotten = nil
        await keys.refresh()
        #expect(log.all == ["anybody"])
        try await keys.revoke(key.id)
        #expect(log.all == ["anybody", "revoked"])
        clock.advance(seconds: 10)
        await keys.refresh()
        #expect(log.all == ["anybody", "revoked", "expired"])
        let late = keys.onEnd(of: caller) { log.add("late") }
        #expect(log.all == ["anybody", "revoked", "expired", "late"])
        withExtendedLifetime((first, second, third, late)) {}
    }

    @Test("A poll that waits is over when its key is revoked")
    func poll() async throws {
        let keys = try await open()
        let (key, text) = try await keys.create(description())
        let store = MemoryStore()
        let context = ServiceContext(store: store, keys: keys).calling(as: try keys.caller(showing: Array(text.utf8)))
        var params = PollChanges.Params(
            target: .collection(try CollectionPath("c")),
            wait: .seconds(30),
            limit: 1,
            contents: .document,
            coalesces: false
        )
        params.resume = try await PollChanges.call(params, in: context).token
        let poll = Task { [params] in try await PollChanges.call(params, in: context) }
        while store.waiterCount == 0 { await Task.yield() }
        try await keys.revoke(key.id)
        let error = await #expect(throws: StatusError.self) { try await poll.value }
        #expect(error?.code == .unauthenticated)
    }

    @Test("A key that was edited in the file is another: who called with it is told")
    func edited() async throws {
        let keys = try await open()
        let log = Log()
        let (_, text) = try await keys.create(description(.writer))
        let observation = keys.onEnd(of: try keys.caller(showing: Array(text.utf8))) { log.add("end") }
        let file = try folder.text(of: "data/keys.json")
        try folder.write(file.replacingOccurrences(of: "writer", with: "reader"), to: "data/keys.json")
        await keys.refresh()
        #expect(log.all == ["end"])
        #expect(try keys.caller(showing: Array(text.utf8)).role == .reader)
        withExtendedLifetime(observation) {}
    }

    @Test("The first key can be made before the data folder is used, and not in a folder that is somebody else's")
    func folders() async throws {
        _ = try await open().create(description())
        let store = try await FileStore.open(FileStoreConfiguration(folder: folder["data"]), logger: logger)
        #expect(await store.close() == nil)
        try folder.write("mine", to: "other/thesis.tex")
        await #expect(throws: StatusError.self) {
            try await AccessKeys.open(inFolder: folder["other"], makingFolder: true, logger: logger)
        }
        let missing = await #expect(throws: StatusError.self) {
            try await AccessKeys.open(inFolder: folder["none"], logger: logger)
        }
        #expect(missing?.code == .notFound)
        #expect(!folder.exists("none"))
    }

    @Test("A description that makes no sense is refused")
    func descriptions() throws {
        let books = try CollectionPath("books")
        #expect(throws: StatusError.self) { try description(.admin, collections: [books]) }
        #expect(throws: StatusError.self) { try description(collections: []) }
        #expect(throws: StatusError.self) { try description(collections: Array(repeating: books, count: 101)) }
        #expect(throws: StatusError.self) { try description(expireTime: clock.now) }
        #expect(throws: StatusError.self) { try description(label: String(repeating: "a", count: 201)) }
        #expect(throws: StatusError.self) { try description(label: KeySecret().text) }
        _ = try description(label: String(repeating: "a", count: 200))
    }

    private func refusal(of text: String?, by keys: AccessKeys) -> String? {
        do throws(AccessKeys.Refusal) {
            _ = try keys.caller(showing: text.map { Array($0.utf8) })
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

    /// Adds what is logged.
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
