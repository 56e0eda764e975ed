import Concurrency
import DocumentModel
import FileStore
import Foundation
import Logging
import StorageIO
import Synchronization
import TestSupport
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("Browser sessions that servers share")
struct SharedSessionTests {
    private struct Server {
        let keys: APIKeyRegistry
        let sessions: SessionRegistry
    }

    private let folder: TemporaryFolder
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Starts a server. Servers share the keys, and a record of sessions, for which a file with another meaning serves.
    private func makeServer() async throws -> Server {
        try await makeServer(openKeys(), openRecord())
    }

    private func makeServer(_ keyRecord: some AtomicRecord, _ record: some AtomicRecord) async throws -> Server {
        let keys = try await APIKeyRegistry.open(keyRecord, logger: logger)
        return Server(keys: keys, sessions: SessionRegistry(keys: keys, sharedIn: record, logger: logger))
    }

    private func openKeys() async throws -> LockedAtomicFile {
        try await .open(.keys, inFolder: folder["data"], creatingFolder: true)
    }

    private func openRecord() async throws -> LockedAtomicFile {
        try await .open(.rulesHistory, inFolder: folder["data"])
    }

    private func signIn(_ server: Server, with key: String) async throws -> (session: Session, id: String) {
        try await server.sessions.start(
            with: Array(key.utf8),
            from: "127.0.0.1",
            isSecure: true,
            failures: FailedAttemptLimiter(limit: 10)
        )
    }

    @Test
    func `A session of one server is known to others, also to one that starts later, until one ends it`() async throws {
        let (first, second) = (try await makeServer(), try await makeServer())
        let key = try await first.keys.create(.init(role: .writer))
        let session = try await signIn(first, with: key.text)
        let found = try #require(await second.sessions.sharedSession(withID: session.id.utf8))
        #expect(found.caller == session.session.caller && found.isSecure && found.name == session.session.name)
        let third = try await makeServer()
        #expect(await third.sessions.sharedSession(withID: session.id.utf8) != nil)
        #expect(await third.sessions.sharedSession(withID: "0123".utf8) == nil)
        try await third.sessions.end(session.session.name, by: session.session.caller)
        await first.sessions.refresh()
        #expect(first.sessions.session(withID: session.id.utf8) == nil)
        #expect(await second.sessions.sharedSession(withID: "4567".utf8) == nil)
        #expect(second.sessions.session(withID: session.id.utf8) == nil)
    }

    @Test
    func `The end of a session on another server closes its streams, and a revoked key ends all of its sessions`() async throws {
        let (first, second) = (try await makeServer(), try await makeServer())
        let key = try await first.keys.create(.init(role: .reader))
        await second.keys.refresh()
        let (session, other) = (try await signIn(first, with: key.text), try await signIn(second, with: key.text))
        let ends = AsyncStream<Void>.makeStream()
        let observation = first.sessions.onRevocation(of: session.session) { ends.continuation.yield() }
        _ = try #require(await second.sessions.sharedSession(withID: session.id.utf8))
        try await second.sessions.end(session.session.name, by: .system)
        await first.sessions.refresh()
        for await _ in ends.stream { break }
        withExtendedLifetime(observation) {}
        #expect(await first.sessions.sharedSession(withID: other.id.utf8) != nil)
        try await second.keys.revoke(key.key.id)
        await first.keys.refresh()
        #expect(await first.sessions.sharedSession(withID: other.id.utf8) == nil)
    }

    @Test
    func `A record that cannot be read is replaced by the sessions that are known`() async throws {
        let server = try await makeServer()
        let key = try await server.keys.create(.init(role: .admin))
        _ = try await openRecord().update { _ in Array("damaged".utf8) }
        let session = try await signIn(server, with: key.text)
        #expect(server.sessions.session(withID: session.id.utf8) != nil)
        #expect(await (try makeServer()).sessions.sharedSession(withID: session.id.utf8) != nil)
    }

    @Test
    func `A record of a newer version is left as it is, and sessions are known to their server only`() async throws {
        let server = try await makeServer()
        let key = try await server.keys.create(.init(role: .admin))
        let newer = Array(#"{"format":2,"sessions":[]}"#.utf8)
        let record = try await openRecord()
        _ = try await record.update { _ in newer }
        let session = try await signIn(server, with: key.text)
        #expect(server.sessions.session(withID: session.id.utf8) != nil)
        #expect(try await record.snapshot().bytes == newer)
    }

    @Test
    func `A session that ends while it is being stored does not come back`() async throws {
        let keys = try await openKeys()
        let record = HeldRecord(try await openRecord())
        let server = try await makeServer(keys, record)
        let key = try await server.keys.create(.init(role: .writer))
        let hold = record.holdNext(.update)
        let signingIn = Task { try await signIn(server, with: key.text) }
        await hold.reached.wait()
        let started = try #require(server.sessions.visible(to: .system).first)
        try await server.sessions.end(started.name, by: .system)
        hold.released.resume()
        let id = try await signingIn.value.id
        #expect(server.sessions.session(withID: id.utf8) == nil)
        #expect(await (try makeServer()).sessions.sharedSession(withID: id.utf8) == nil)
    }

    @Test
    func `A session is not ended by a look at the record that was overtaken by its sign-in`() async throws {
        let keys = HeldRecord(try await openKeys())
        let record = HeldRecord(try await openRecord())
        let (server, other) = (try await makeServer(keys, record), try await makeServer())
        let key = try await server.keys.create(.init(role: .writer))
        _ = try await record.update { _ in SessionFile().encoded }
        let look = record.holdNext(.snapshot)
        let looking = Task { await server.sessions.refresh() }
        await look.reached.wait()
        // The session of a key that the server does not know: it looks for it before it takes over the record with its own session.
        _ = try await signIn(other, with: try await other.keys.create(.init(role: .writer)).text)
        let keyLook = keys.holdNext(.version)
        let signingIn = Task { try await signIn(server, with: key.text) }
        await keyLook.reached.wait()
        let started = try #require(server.sessions.visible(to: .system).first)
        let hasEnded = Atomic(false)
        let observation = server.sessions.onRevocation(of: started) { hasEnded.store(true, ordering: .relaxed) }
        look.released.resume()
        await looking.value
        keyLook.released.resume()
        let id = try await signingIn.value.id
        #expect(server.sessions.session(withID: id.utf8)?.name == started.name)
        withExtendedLifetime(observation) {}
        let wasEnded = hasEnded.load(ordering: .relaxed)
        #expect(!wasEnded)
    }
}

/// A record whose next operation of a kind can be held: an update before it is made, another one before its result is returned.
private final class HeldRecord: AtomicRecord {
    enum Operation {
        case version
        case snapshot
        case update
    }

    /// An operation that is held from when it is reached until it is released.
    struct Hold {
        let operation: Operation
        let reached = Waiter()
        let released = Waiter()
    }

    private let base: LockedAtomicFile
    private let hold = Mutex<Hold?>(nil)

    init(_ base: LockedAtomicFile) {
        self.base = base
    }

    var name: String { base.name }

    func holdNext(_ operation: Operation) -> Hold {
        let next = Hold(operation: operation)
        hold.withLock { $0 = next }
        return next
    }

    private func pass(_ operation: Operation) async {
        let held = hold.withLock { hold -> Hold? in
            guard hold?.operation == operation else { return nil }
            defer { hold = nil }
            return hold
        }
        held?.reached.resume()
        await held?.released.wait()
    }

    func version() async throws(StatusError) -> AtomicRecordVersion? {
        let version = try await base.version()
        await pass(.version)
        return version
    }

    func snapshot() async throws(StatusError) -> AtomicRecordSnapshot {
        let snapshot = try await base.snapshot()
        await pass(.snapshot)
        return snapshot
    }

    func update(
        _ change: @escaping @Sendable ([UInt8]?) throws(StatusError) -> [UInt8]?
    ) async throws(StatusError) -> AtomicRecordSnapshot {
        await pass(.update)
        return try await base.update(change)
    }
}
