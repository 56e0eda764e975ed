import HearthAPI
import JSONRPC
import StrictJSON
import Testing
import UTF8Text

@Suite("Roles")
struct RoleTests {
    /// The minimum role for each method. A new method without an entry fails the test.
    private static let rights: [UTF8Key: Role] = [
        "documents.get": .reader, "documents.list": .reader, "documents.batchGet": .reader, "documents.history": .reader,
        "documents.create": .writer, "documents.set": .writer, "documents.update": .writer, "documents.delete": .writer,
        "documents.restore": .writer,
        "documents.commit": .writer, "documents.batchWrite": .writer,
        "collections.list": .reader, "collections.size": .reader, "query.run": .reader, "query.aggregate": .reader,
        "query.explain": .reader,
        "transactions.begin": .reader, "transactions.rollback": .reader,
        "server.info": .reader, "server.log": .admin, "server.promote": .admin, "rpc.discover": .reader,
        "changes.poll": .reader, "watch.addTargets": .reader, "watch.removeTargets": .reader,
        "indexes.list": .reader, "indexes.create": .admin, "indexes.delete": .admin,
        "indexes.exempt": .admin, "indexes.unexempt": .admin,
        "databases.list": .reader, "databases.create": .admin, "databases.delete": .admin, "databases.setQuota": .admin,
        "databases.getQuota": .reader, "backups.create": .admin, "backups.verify": .admin, "backups.list": .admin,
        "files.problems": .admin, "files.acceptRemoved": .admin,
        "keys.create": .admin, "keys.list": .admin, "keys.revoke": .admin, "rules.get": .admin, "rules.set": .admin,
    ]

    @Test
    func `Every method declares its minimum role and the access errors`() {
        let declared = HearthMethods.table.methods.map { ($0.name, $0.requiredPermission) }
        #expect(Dictionary(declared) { $1 } == Self.rights.mapValues(\.rawValue))
        for method in HearthMethods.table.methods {
            #expect(method.errors.contains { $0.code == 7 } && method.errors.contains { $0.code == 16 }, "\(method.name)")
        }
    }

    @Test(arguments: Role.allCases)
    func `Methods are rejected for lower roles only`(role: Role) async throws {
        try await withMemoryService { service in
            let keys = service.context.keys
            let (_, text) = try await keys.create(.init(role: role))
            let caller = try keys.authenticate(Array(text.utf8))
            let called = service.withCaller(caller)
            for method in HearthMethods.table.methods {
                let right = try #require(Self.rights[method.name])
                let params = method.examples.first.map { String(decoding: $0.params.root.rawBytes, as: UTF8.self) } ?? "{}"
                for params in [params, #"{"nonsense": 1}"#] {
                    let error = try await called.response(to: method.name.string, params)["error"]
                    #expect((error?["data"]?["status"]?.string == "PERMISSION_DENIED") == (role < right), "\(method.name)")
                }
            }
        }
    }

    @Test
    func `Without keys, callers have full access but cannot create keys`() async throws {
        try await withMemoryService { service in
            let called = service.withCaller(.openAccess)
            try await called.result(of: "documents.set", #"{"path": "a/b", "fields": {}}"#)
            let error = try await called.response(to: "keys.create", #"{"role": "admin"}"#)["error"]
            #expect(error?["data"]?["status"]?.string == "PERMISSION_DENIED")
            #expect(error?["message"]?.string?.contains("hearth keys create --role admin") == true)
            #expect(!service.context.keys.requiresKeys)
        }
    }

    @Test
    func `A call fails after its key is revoked by the previous call`() async throws {
        try await withMemoryService { service in
            let keys = service.context.keys
            let (key, text) = try await keys.create(.init(role: .admin))
            let called = service.withCaller(try keys.authenticate(Array(text.utf8)))
            try await called.result(of: "server.info", "{}")
            try await called.result(of: "keys.revoke", #"{"id": "\#(key.id)"}"#)
            let error = try await called.response(to: "server.info", "{}")["error"]
            #expect(error?["data"]?["status"]?.string == "UNAUTHENTICATED")
        }
    }

    @Test
    func `An error for a key in place of an ID does not contain the key`() async throws {
        try await withMemoryService { service in
            let (_, text) = try await service.context.keys.create(.init(role: .admin))
            let error = try await service.response(to: "keys.revoke", #"{"id": "\#(text)"}"#)
            #expect(error["error"]?["data"]?["status"]?.string == "NOT_FOUND")
            #expect(!String(decoding: error.rawBytes, as: UTF8.self).contains(text.suffix(64)))
        }
    }
}
