import DocumentModel
import DocumentStore
import DocumentStoreConformance
import JSONRPC
import StrictJSON
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("Rules decide what end users may do") struct RulesAccessTests {
    private static let notes = """
            match /notes/{id} {
              allow read, update, delete: if request.auth.uid == resource.data.owner;
              allow create: if request.auth.uid == request.resource.data.owner;
            }
            match /posts/{id} {
              allow read;
              allow write: if get(/databases/$(database)/documents/users/$(request.auth.uid)).data.role == 'editor';
            }
            match /log/{id} { allow create: if request.resource.data.at == request.time; }
        """

    private func withNotes(_ body: (RulesFixture) async throws -> Void) async throws {
        let fixture = try RulesFixture(Self.notes)
        try await fixture.set("notes/a", #"{"owner": "alice", "text": "secret"}"#)
        try await fixture.set("notes/b", #"{"owner": "bob", "text": "secret"}"#)
        try await fixture.set("notes/a/parts/p", #"{"owner": "alice"}"#)
        try await fixture.set("posts/p", #"{"title": "Hello"}"#)
        try await fixture.set("users/ed", #"{"role": "editor"}"#)
        try await body(fixture)
    }

    /// Calls by the user alice, and their statuses.
    private static let callsByAlice: [(method: String, params: String, status: String)] = [
        ("documents.get", #"{"path": "notes/a"}"#, "OK"),
        ("documents.get", #"{"path": "notes/a", "mask": []}"#, "OK"),
        ("documents.get", #"{"path": "notes/b"}"#, "PERMISSION_DENIED"),
        ("documents.get", #"{"path": "notes/b", "mask": []}"#, "PERMISSION_DENIED"),
        ("documents.get", #"{"path": "notes/missing"}"#, "PERMISSION_DENIED"),
        ("documents.get", #"{"path": "notes/a/parts/p"}"#, "PERMISSION_DENIED"),
        ("documents.get", #"{"path": "posts/missing"}"#, "NOT_FOUND"),
        ("documents.batchGet", #"{"paths": ["notes/a", "posts/p"]}"#, "OK"),
        ("documents.batchGet", #"{"paths": ["notes/a", "notes/b"]}"#, "PERMISSION_DENIED"),
        ("documents.list", #"{"collection": "posts"}"#, "OK"),
        ("documents.list", #"{"collection": "posts", "showMissing": true}"#, "PERMISSION_DENIED"),
        ("documents.list", #"{"collection": "notes"}"#, "PERMISSION_DENIED"),
        ("query.run", #"{"collection": "notes", "where": {"field": "owner", "op": "==", "value": "alice"}}"#, "OK"),
        ("query.run", #"{"collection": "notes", "where": {"field": "owner", "op": "==", "value": "bob"}}"#, "PERMISSION_DENIED"),
        ("query.run", #"{"collection": "notes"}"#, "PERMISSION_DENIED"),
        ("query.run", #"{"collectionGroup": "posts"}"#, "PERMISSION_DENIED"),
        ("query.run", #"{"allDescendants": true}"#, "PERMISSION_DENIED"),
        (
            "query.aggregate",
            #"{"collection": "notes", "aggregations": [{"count": {}, "alias": "n"}], "where": {"field": "owner", "op": "==", "value": "alice"}}"#,
            "OK"
        ),
        ("query.aggregate", #"{"collection": "notes", "aggregations": [{"count": {}, "alias": "n"}]}"#, "PERMISSION_DENIED"),
        ("documents.create", #"{"collection": "notes", "fields": {"owner": "alice"}}"#, "OK"),
        ("documents.create", #"{"collection": "notes", "fields": {"owner": "bob"}}"#, "PERMISSION_DENIED"),
        // Alice may create her own notes, so she is told that there is one already.
        ("documents.create", #"{"collection": "notes", "id": "b", "fields": {"owner": "alice"}}"#, "ALREADY_EXISTS"),
        ("documents.set", #"{"path": "notes/b", "fields": {"owner": "alice"}}"#, "PERMISSION_DENIED"),
        ("documents.update", #"{"path": "notes/a", "fields": {"text": "new"}}"#, "OK"),
        ("documents.update", #"{"path": "notes/b", "fields": {"text": "new"}}"#, "PERMISSION_DENIED"),
        ("documents.update", #"{"path": "notes/missing", "fields": {"text": "new"}}"#, "PERMISSION_DENIED"),
        ("documents.delete", #"{"path": "notes/b"}"#, "PERMISSION_DENIED"),
        ("documents.delete", #"{"path": "notes/missing"}"#, "PERMISSION_DENIED"),
        ("documents.set", #"{"path": "posts/p", "fields": {}}"#, "PERMISSION_DENIED"),
        (
            "documents.commit",
            #"{"writes": [{"update": {"path": "notes/a", "fields": {"n": 1}}}, {"update": {"path": "notes/b", "fields": {"n": 1}}}]}"#,
            "PERMISSION_DENIED"
        ),
        ("transactions.begin", "{}", "OK"),
        ("transactions.begin", #"{"readOnly": {}}"#, "OK"),
    ]

    @Test func `Every call of an end user is decided by the rules`() async throws {
        try await withNotes { fixture in
            for (method, params, status) in Self.callsByAlice {
                let actual = try await fixture.status("alice", method, params)
                #expect(actual == status, "\(method) \(params)")
            }
        }
    }

    @Test func `Nobody signed in is decided by the rules, too`() async throws {
        try await withNotes { fixture in
            let post = try await fixture.status(nil, "documents.get", #"{"path": "posts/p"}"#)
            let note = try await fixture.status(nil, "documents.get", #"{"path": "notes/a"}"#)
            #expect(post == "OK" && note == "PERMISSION_DENIED")
        }
    }

    @Test func `A commit with one forbidden write changes nothing`() async throws {
        try await withNotes { fixture in
            let before = fixture.store.position.lastSequence
            let writes = #"{"writes": [{"update": {"path": "notes/a", "fields": {"n": 1}}}, {"delete": {"path": "notes/b"}}]}"#
            let status = try await fixture.status("alice", "documents.commit", writes)
            #expect(status == "PERMISSION_DENIED")
            #expect(fixture.store.position.lastSequence == before)
        }
    }

    @Test func `The writes of a batchWrite are decided one by one`() async throws {
        try await withNotes { fixture in
            let params = #"{"writes": [{"update": {"path": "notes/a", "fields": {"n": 1}}}, {"delete": {"path": "notes/b"}}]}"#
            let result = try JSONText(await fixture.service(of: "alice").result(of: "documents.batchWrite", params)).root
            let statuses = result["writeResults"]?.elements?.map { $0["error"]?["data"]?["status"]?.string }
            #expect(statuses == [nil, "PERMISSION_DENIED"])
        }
    }

    @Test func `The role in another document decides, as it is at the commit`() async throws {
        try await withNotes { fixture in
            let write = #"{"path": "posts/p", "fields": {"title": "New"}}"#
            #expect(try await fixture.status("ed", "documents.set", write) == "OK")
            try await fixture.set("users/ed", #"{"role": "reader"}"#)
            #expect(try await fixture.status("ed", "documents.set", write) == "PERMISSION_DENIED")
            try await fixture.delete("users/ed")
            #expect(try await fixture.status("ed", "documents.set", write) == "PERMISSION_DENIED")
        }
    }

    @Test func `A server timestamp equals the time of the request, and the client's clock does not`() async throws {
        try await withNotes { fixture in
            let transform = #"{"field": "at", "serverTimestamp": true}"#
            let create = #"{"writes": [{"set": {"path": "log/1", "fields": {}, "transforms": [\#(transform)]}}]}"#
            let status = try await fixture.status(nil, "documents.commit", create)
            #expect(status == "OK")
            let own = #"{"path": "log/2", "fields": {"at": {"$timestamp": "2024-02-29T12:00:00.000000Z"}}}"#
            #expect(try await fixture.status(nil, "documents.set", own) == "PERMISSION_DENIED")
        }
    }

    @Test func `A transaction is decided when it reads, and again when it commits`() async throws {
        try await withNotes { fixture in
            let service = try fixture.service(of: "alice")
            let begun = try JSONText(await service.result(of: "transactions.begin", "{}")).root
            let id = try #require(begun["transaction"]?.string)
            let forbidden = try await service.response(to: "documents.get", #"{"path": "notes/b", "transaction": "\#(id)"}"#)
            #expect(forbidden["error"]?["data"]?["status"]?.string == "PERMISSION_DENIED")
            try await service.result(of: "documents.get", #"{"path": "notes/a", "transaction": "\#(id)"}"#)
            let commit = #"{"writes": [{"delete": {"path": "notes/b"}}], "transaction": "\#(id)"}"#
            let committed = try await service.response(to: "documents.commit", commit)
            #expect(committed["error"]?["data"]?["status"]?.string == "PERMISSION_DENIED")
        }
    }

    @Test func `A transaction belongs to its user`() async throws {
        try await withNotes { fixture in
            let begun = try JSONText(await fixture.service(of: "alice").result(of: "transactions.begin", "{}")).root
            let id = try #require(begun["transaction"]?.string)
            let read = #"{"path": "posts/p", "transaction": "\#(id)"}"#
            #expect(try await fixture.status("alice", "documents.get", read) == "OK")
            #expect(try await fixture.status("bob", "documents.get", read) == "INVALID_ARGUMENT")
            #expect(try await fixture.status(nil, "documents.get", read) == "INVALID_ARGUMENT")
        }
    }

    @Test func `The past is closed to end users`() async throws {
        try await withNotes { fixture in
            let time = #""\#(Timestamp.current().rfc3339)""#
            let calls = [
                ("documents.get", #"{"path": "posts/p", "readTime": \#(time)}"#),
                ("documents.list", #"{"collection": "posts", "readTime": \#(time)}"#),
                ("query.run", #"{"collection": "posts", "readTime": \#(time)}"#),
                ("transactions.begin", #"{"readOnly": {"readTime": \#(time)}}"#),
            ]
            for (method, params) in calls {
                let status = try await fixture.status("alice", method, params)
                #expect(status == "PERMISSION_DENIED", "\(method) \(params)")
            }
        }
    }

    @Test func `The error of a forbidden write tells nothing of the document`() async throws {
        try await withNotes { fixture in
            let service = try fixture.service(of: "alice")
            var errors: Set<String> = []
            for id in ["b", "missing"] {
                let path = "notes/\(id)"
                for (method, params) in [
                    ("documents.create", #"{"collection": "notes", "id": "\#(id)", "fields": {}}"#),
                    ("documents.set", #"{"path": "\#(path)", "fields": {"n": 1}, "precondition": {"exists": true}}"#),
                    ("documents.update", #"{"path": "\#(path)", "fields": {"n": 1}}"#),
                    ("documents.delete", #"{"path": "\#(path)", "precondition": {"exists": true}}"#),
                ] {
                    let response = try await service.response(to: method, params)
                    errors.insert(response["error"].map { String(decoding: $0.rawBytes, as: UTF8.self) } ?? "OK")
                }
            }
            #expect(
                errors == [
                    #"{"code":7,"message":"Missing or insufficient permissions.","data":{"status":"PERMISSION_DENIED"}}"#
                ]
            )
        }
    }

    @Test func `Rules see the page size of a list, in however many batches it is read`() async throws {
        let fixture = try RulesFixture(
            """
                match /few/{id} { allow list: if request.query.limit <= 40; }
                match /hundred/{id} { allow list: if request.query.limit == 100; }
            """
        )
        for collection in ["few", "hundred"] {
            for number in 1...3 { try await fixture.set("\(collection)/\(number)", "{}") }
        }
        for (collection, pageSize, status) in [
            ("few", 40, "OK"), ("few", 41, "PERMISSION_DENIED"), ("few", 1_000, "PERMISSION_DENIED"), ("hundred", 100, "OK"),
            ("hundred", 32, "PERMISSION_DENIED"),
        ] {
            let params = #"{"collection": "\#(collection)", "pageSize": \#(pageSize)}"#
            let listed = try await fixture.status("alice", "documents.list", params)
            #expect(listed == status, "\(collection) \(pageSize)")
        }
    }

    @Test func `A list is decided again if the rules have changed while it was read`() async throws {
        let fixture = try RulesFixture.replacingRules(
            "match /c/{id} { allow list; }",
            with: "match /c/{id} { allow list: if false; }"
        )
        try await fixture.set("c/a", #"{"text": "secret"}"#)
        let status = try await fixture.status("alice", "documents.list", #"{"collection": "c"}"#)
        #expect(status == "PERMISSION_DENIED")
    }

    @Test func `Without rules, the database is closed`() async throws {
        let store = RulesFixture.self
        let fixture = ServiceContext(store: try store.init("").store)
        for (uid, status) in [("alice", "PERMISSION_DENIED"), (nil, "UNAUTHENTICATED")] as [(String?, String)] {
            let service = TemporaryService(context: fixture.withCaller(try store.caller(uid)), folder: "")
            for (method, params, _) in Self.callsByAlice where !method.hasPrefix("transactions") {
                let error = try await service.response(to: method, params)["error"]
                #expect(["PERMISSION_DENIED", status].contains(error?["data"]?["status"]?.string), "\(method) \(params)")
            }
        }
    }

    @Test func `In emulator mode, a denial names the line and the cause`() async throws {
        let fixture = try RulesFixture(Self.notes, isEmulator: true)
        let response = try await fixture.service(of: "alice").response(to: "documents.get", #"{"path": "notes/a"}"#)
        #expect(response["error"]?["message"]?.string == "\nevaluation error at L5:58 for 'get' @ L5")
    }
}

@Suite("Everything but documents is closed to end users") struct ClosedMethodTests {
    /// The decision for each method. A new method without an entry fails the test.
    private static let isOpen: [UTF8Key: Bool] = [
        "documents.get": true, "documents.list": true, "documents.batchGet": true, "documents.create": true,
        "documents.set": true, "documents.update": true, "documents.delete": true, "documents.commit": true,
        "documents.batchWrite": true, "query.run": true, "query.aggregate": true,
        "transactions.begin": true, "transactions.rollback": true, "watch.addTargets": true, "watch.removeTargets": true,
        "documents.history": false, "documents.restore": false, "collections.list": false, "collections.size": false,
        "query.explain": false, "changes.poll": false, "server.info": false, "server.log": false, "server.promote": false,
        "rpc.discover": false,
        "indexes.list": false, "indexes.create": false, "indexes.delete": false, "indexes.exempt": false,
        "indexes.unexempt": false, "databases.list": false, "databases.create": false, "databases.delete": false,
        "databases.setQuota": false, "databases.getQuota": false,
        "files.problems": false, "files.acceptRemoved": false,
        "backups.create": false, "backups.verify": false, "backups.list": false,
        "keys.create": false, "keys.list": false, "keys.revoke": false, "rules.get": false, "rules.set": false,
    ]

    @Test func `Every method has a decision`() {
        #expect(Set(HearthMethods.table.methods.map(\.name)) == Set(Self.isOpen.keys))
    }

    @Test(arguments: ["alice", nil])
    func `A closed method is refused, whatever the rules allow`(uid: String?) async throws {
        let fixture = try RulesFixture("    match /{document=**} { allow read, write; }")
        let service = try fixture.service(of: uid)
        for method in HearthMethods.table.methods {
            let params = method.examples.first.map { String(decoding: $0.params.root.rawBytes, as: UTF8.self) } ?? "{}"
            let status = try await service.response(to: method.name.string, params)["error"]?["data"]?["status"]?.string
            #expect((status == "PERMISSION_DENIED") == (Self.isOpen[method.name] == false), "\(method.name): \(status ?? "OK")")
        }
    }
}
