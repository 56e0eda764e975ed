import DocumentModel
import DocumentStore
import DocumentStoreConformance
import FileStore
import Foundation
import Logging
import StrictJSON
import Synchronization
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("Database registry", .timeLimit(.minutes(10)))
struct DatabaseRegistryTests {
    private static func set(_ version: Int, in database: String) -> String {
        #"{"path": "c/d", "fields": {"v": \#(version)}, "database": "\#(database)"}"#
    }

    @Test
    func `The number of open databases is limited, and evicted databases keep their data`() async throws {
        try await withService(databaseLimit: 3) { service in
            for round in 1...2 {
                for number in 0..<10 {
                    try await service.result(of: "documents.set", Self.set(number + round, in: "d\(number)"))
                    #expect(try Self.openDatabases(of: service.folder).count <= 3)
                }
            }
            // With concurrent writes to all databases, some are rejected with a retry delay.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<10 {
                    group.addTask {
                        while true {
                            let response = try await service.response(to: "documents.set", Self.set(number, in: "d\(number)"))
                            guard let error = response["error"] else { break }
                            #expect(error["data"]?["status"]?.string == "RESOURCE_EXHAUSTED")
                            #expect(error["data"]?["retryAfterMilliseconds"] != nil)
                        }
                    }
                }
                try await group.waitForAll()
            }
            for number in 0..<10 {
                let fields = try await service.member(
                    "fields",
                    of: "documents.get",
                    #"{"path": "c/d", "database": "d\#(number)"}"#
                )
                #expect(fields == #"{"v":\#(number)}"#)
                #expect(try await service.member("sequence", of: "server.info", #"{"database": "d\#(number)"}"#) == "3")
            }
        }
    }

    @Test
    func `Databases with leases or open transactions are not evicted, and others are rejected`() async throws {
        try await withService(databaseLimit: 2) { service in
            for name in ["a", "b"] { try await service.result(of: "documents.set", Self.set(1, in: name)) }
            let watched = try await service.context.inDatabase(named: "a")
            let begun = try await service.result(of: "transactions.begin", #"{"database": "b"}"#)
            let transaction = try #require(try JSONText(begun).root["transaction"]?.string)
            let error = try await service.response(to: "documents.set", Self.set(1, in: "c"))["error"]
            #expect(error?["data"]?["status"]?.string == "RESOURCE_EXHAUSTED")
            // A database that does not exist can still be read.
            try await service.result(of: "documents.list", #"{"collection": "c", "database": "c"}"#)
            try await service.result(of: "transactions.rollback", #"{"transaction": "\#(transaction)", "database": "b"}"#)
            try await service.result(of: "documents.set", Self.set(1, in: "c"))
            #expect(watched.store.position.lastSequence == SequenceNumber(1))
        }
    }

    @Test(arguments: ["{", "missing"])
    func `A damaged database does not affect others`(manifest: String) async throws {
        try await withService(databaseLimit: 1) { service in
            for name in ["bad", "good"] { try await service.result(of: "documents.set", Self.set(1, in: name)) }
            // Opening the second database has evicted the first.
            let file = URL(filePath: service.folder + "/databases/hearth/bad/hearth.json")
            if manifest == "missing" {
                try FileManager.default.removeItem(at: file)
            } else {
                try Data(manifest.utf8).write(to: file)
            }
            for (method, params) in [
                ("documents.get", #"{"path": "c/d", "database": "bad"}"#), ("documents.set", Self.set(2, in: "bad")),
                ("query.run", #"{"collection": "c", "database": "bad"}"#),
            ] {
                let error = try #require(try await service.response(to: method, params)["error"])
                #expect(["DATA_LOSS", "FAILED_PRECONDITION"].contains(error["data"]?["status"]?.string))
                #expect(error["data"]?["parameter"]?.string == "params.database")
                #expect(error["message"]?.string?.contains("hearth/bad") == true)
                // The error does not disclose file paths.
                #expect(!String(decoding: error.rawBytes, as: UTF8.self).contains(service.folder))
            }
            try await service.result(of: "documents.set", Self.set(2, in: "good"))
            try await service.result(of: "documents.set", Self.set(2, in: "(default)"))
            #expect(try await service.databaseNames() == ["hearth/(default)", "hearth/bad", "hearth/good"])
            try await service.result(of: "databases.delete", #"{"name": "bad"}"#)
            try await service.result(of: "documents.list", #"{"collection": "c", "database": "bad"}"#)
        }
    }

    @Test
    func `A database whose rules cannot be read is not open, and takes the place of no other`() async throws {
        try await withService(databaseLimit: 1) { service in
            for name in ["bad", "good"] { try await service.result(of: "documents.set", Self.set(1, in: name)) }
            let file = URL(filePath: service.folder + "/databases/hearth/bad/firestore.rules")
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            for _ in 1...3 {
                let response = try await service.response(to: "documents.get", #"{"path": "c/d", "database": "bad"}"#)
                #expect(response["error"] != nil)
                let open = try Self.openDatabases(of: service.folder)
                #expect(open == [])
                try await service.result(of: "documents.set", Self.set(2, in: "good"))
            }
            try FileManager.default.removeItem(at: file)
            try await service.result(of: "documents.get", #"{"path": "c/d", "database": "bad"}"#)
        }
    }

    @Test
    func `A copied database folder under another name is rejected`() async throws {
        try await withService(databaseLimit: 1) { service in
            for name in ["a", "b"] { try await service.result(of: "documents.set", Self.set(1, in: name)) }
            let folder = service.folder + "/databases/hearth/"
            try FileManager.default.copyItem(atPath: folder + "a", toPath: folder + "copy")
            let error = try await service.response(to: "documents.get", #"{"path": "c/d", "database": "copy"}"#)["error"]
            #expect(error?["data"]?["status"]?.string == "FAILED_PRECONDITION")
        }
    }

    @Test
    func `A database is deleted while in use and can be recreated`() async throws {
        try await withService { service in
            for name in ["a", "b"] { try await service.result(of: "documents.set", Self.set(1, in: name)) }
            let context = try await service.context.inDatabase(named: "a")
            let session = try await WatchSession(WatchRequest(target: .collection(CollectionPath("c"))), in: context)
            var replica = WatchReplica()
            let end = await #expect(throws: StatusError.self) {
                for try await frames in session {
                    replica.apply(frames)
                    if replica.log.last == "current 1" { try await service.result(of: "databases.delete", #"{"name": "a"}"#) }
                }
            }
            #expect(end?.code == .notFound && end?.message.contains("was deleted") == true)
            #expect(replica.log == ["open", "added d 1", "current 1"])
            let error = await #expect(throws: StatusError.self) {
                try await context.store.document(at: DocumentPath("c/d"), readTime: nil)
            }
            #expect(error?.code == .notFound)
            #expect(try await service.databaseNames() == ["hearth/(default)", "hearth/b"])
            await service.context.databases?.purgeTask?.value
            #expect(try FileManager.default.contentsOfDirectory(atPath: service.folder + "/databases") == ["hearth"])

            try await service.result(of: "documents.set", #"{"path": "c/new", "fields": {}, "database": "a"}"#)
            let listed = try await service.result(of: "documents.list", #"{"collection": "c", "mask": [], "database": "a"}"#)
            #expect(try JSONText(listed).root["documents"]?.count == 1)
            // Tokens of the deleted database are invalid.
            var request = WatchRequest(target: .collection(try CollectionPath("c")))
            request.resume = replica.token
            request.onExpired = .fail
            let recreated = try await service.context.inDatabase(named: "a")
            let expired = await #expect(throws: StatusError.self) { try await WatchSession(request, in: recreated) }
            #expect(expired?.code == .outOfRange)
        }
    }

    @Test
    func `A database is created empty, once, and survives a restart`() async throws {
        try await withService { service in
            #expect(try await service.result(of: "databases.create", #"{"name": "made"}"#) == #"{"name":"hearth/made"}"#)
            #expect(try await service.databaseNames() == ["hearth/(default)", "hearth/made"])
            try await service.result(of: "documents.set", Self.set(1, in: "written"))
            let refused = [
                ("made", "ALREADY_EXISTS"), ("written", "ALREADY_EXISTS"), ("(default)", "ALREADY_EXISTS"),
                ("a/b/c", "INVALID_ARGUMENT"),
            ]
            for (name, status) in refused {
                let error = try await service.response(to: "databases.create", #"{"name": "\#(name)"}"#)["error"]
                #expect(error?["data"]?["status"]?.string == status, "\(name)")
            }
            let databases = try #require(service.context.databases)
            let id = try DatabaseID("many", inProject: "hearth")
            let created = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 { group.addTask { (try? await databases.create(id)) != nil } }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(created == 1)
            #expect(await databases.close() == nil)
            let reopened = try await DatabaseRegistry.open(of: service.host(), logger: .silent)
            #expect(
                try await reopened.all().map(\.description) == [
                    "hearth/(default)", "hearth/made", "hearth/many", "hearth/written",
                ]
            )
            #expect(await reopened.close() == nil)
        }
    }

    @Test
    func `Missing databases and the default database cannot be deleted`() async throws {
        try await withService { service in
            for (name, status) in [("none", "NOT_FOUND"), ("(default)", "FAILED_PRECONDITION"), ("", "INVALID_ARGUMENT")] {
                let error = try await service.response(to: "databases.delete", #"{"name": "\#(name)"}"#)["error"]
                #expect(error?["data"]?["status"]?.string == status)
            }
        }
    }

    @Test
    func `Interrupted deletions are completed after a restart`() async throws {
        try await withService { service in
            let left = service.folder + "/databases/.hearth-0.tmp/documents/c"
            try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: true)
            try Data("{}".utf8).write(to: URL(filePath: left + "/d.json"))
            #expect(try await service.databaseNames() == ["hearth/(default)"])
            let reopened = try await DatabaseRegistry.open(of: service.host(), logger: .silent)
            await reopened.purgeTask?.value
            #expect(try FileManager.default.contentsOfDirectory(atPath: service.folder + "/databases").isEmpty)
            #expect(await reopened.close() == nil)
        }
    }

    @Test
    func `Databases persist across restarts and cannot have the name of the default one`() async throws {
        try await withService { service in
            for _ in 1...2 {
                let databases = try await DatabaseRegistry.open(of: service.host(), logger: .silent)
                let context = ServiceContext(store: service.context.store, databases: databases)
                let inner = TemporaryService(context: context, folder: service.folder)
                try await inner.result(of: "documents.set", #"{"path": "c/d", "fields": {}, "database": "shop/(default)"}"#)
                #expect(await databases.close() == nil)
                let error = try await inner.response(to: "documents.set", Self.set(1, in: "a"))["error"]
                #expect(error?["data"]?["status"]?.string == "UNAVAILABLE")
            }
            let error = await #expect(throws: StatusError.self) {
                try await DatabaseRegistry.open(defaultID: DatabaseID(project: "shop"), of: service.host(), logger: .silent)
            }
            #expect(error?.code == .failedPrecondition)
        }
    }

    @Test
    func `Keys restricted to collections have no access to additional databases`() async throws {
        try await withService { service in
            try await service.result(of: "documents.set", Self.set(1, in: "a"))
            let attributes = try APIKey.Attributes(role: .writer, collections: [CollectionPath("c")])
            let (_, text) = try await service.context.keys.create(attributes)
            let limited = service.withCaller(try service.context.keys.authenticate(Array(text.utf8)))
            for (method, params) in [
                ("documents.get", #"{"path": "c/d", "database": "a"}"#), ("documents.set", Self.set(2, in: "b")),
                ("databases.list", "{}"), ("databases.create", #"{"name": "b"}"#), ("databases.delete", #"{"name": "a"}"#),
            ] {
                let error = try await limited.response(to: method, params)["error"]
                #expect(error?["data"]?["status"]?.string == "PERMISSION_DENIED", "\(method)")
            }
            try await limited.result(of: "documents.set", Self.set(2, in: "(default)"))
        }
    }

    @Test
    func `A database of another server that cannot be opened does not keep deleted ones open`() async throws {
        let host = SharedHost()
        let databases = try await DatabaseRegistry.open(of: host, logger: .silent)
        let created = try DatabaseID(project: "p", database: "created")
        let lease = try await databases.lease(created)
        var deleted: [DatabaseLease] = []
        for number in 0..<4 {
            let other = try await databases.lease(try DatabaseID(project: "p", database: UTF8Key("deleted\(number)")))
            _ = try await other.commit([.set(DocumentPath("c/d"), [:])])
            deleted.append(other)
        }
        host.set([created: "of another server"], opens: false)
        #expect(try await databases.refresh())
        for other in deleted {
            let error = await #expect(throws: StatusError.self) { try await other.document(at: DocumentPath("c/d")) }
            #expect(error?.code == .notFound)
        }
        #expect(lease.database.store == nil)
        host.set([created: "of another server"], opens: true)
        #expect(try await databases.refresh())
        #expect(lease.database.store != nil)
        _ = await databases.close()
    }

    @Test
    func `Of two servers that create a database at the same time, one succeeds`() async throws {
        let host = SharedHost()
        // Neither finds the database before it creates it.
        host.hideDatabases()
        let first = try await DatabaseRegistry.open(of: host, logger: .silent)
        let second = try await DatabaseRegistry.open(of: host, logger: .silent)
        let id = try DatabaseID(project: "p", database: "created")
        try await first.create(id)
        let error = await #expect(throws: StatusError.self) { try await second.create(id) }
        #expect(error?.code == .alreadyExists)
        for server in [first, second] { _ = await server.close() }
    }

    /// Returns the additional databases whose indexes this process has open.
    private static func openDatabases(of folder: String) throws -> Set<String> {
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let files = descriptors.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
        return Set(files.filter { $0.hasPrefix(folder + "/databases/") && $0.hasSuffix("/index.sqlite") })
    }
}

extension TemporaryService {
    /// Returns a host like the one of the service, as after a restart.
    fileprivate func host() async throws -> FileStoreHost {
        let store = try #require(context.store as? FileStore)
        return try await FileStoreHost.open(store, FileStoreConfiguration(folder: folder), logger: .silent)
    }
}

/// A host whose databases another server creates and deletes, too.
private final class SharedHost: StoreHost {
    private let base = MemoryStoreHost()
    private let state = Mutex<(databases: [DatabaseID: String], opens: Bool, isHiding: Bool)>(([:], true, false))

    /// Sets what all servers have created, and whether databases can be opened.
    func set(_ databases: [DatabaseID: String], opens: Bool) {
        state.withLock { $0 = (databases, opens, $0.isHiding) }
    }

    /// Makes the databases seem missing, as if they were created right after each look.
    func hideDatabases() { state.withLock { $0.isHiding = true } }

    var defaultStore: any DocumentStore { base.defaultStore }

    func databases() async throws(StatusError) -> [DatabaseID] { try await base.databases() }

    func sharedDatabases() async throws(StatusError) -> [DatabaseID: String]? { state.withLock(\.databases) }

    func contains(_ id: DatabaseID) async throws(StatusError) -> Bool {
        guard !state.withLock(\.isHiding) else { return false }
        return try await base.contains(id)
    }

    func open(_ identity: DatabaseIdentity) async throws(StatusError) -> any ClosableStore {
        guard state.withLock(\.opens) else { throw StatusError(.unavailable, "The database cannot be opened.") }
        return try await base.open(identity)
    }

    func delete(_ id: DatabaseID) async throws(StatusError) { try await base.delete(id) }

    func purgeDeletedDatabases() async throws(StatusError) {}

    func stopPurging() {}

    @discardableResult
    func close() async -> StatusError? { await base.close() }
}

extension Logger {
    fileprivate static let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
}
