import DocumentModel
import DocumentStore
import HearthAPI
import JSONRPC
import StrictJSON
import Testing
import UTF8Text

@Suite("Keys restricted to collections")
struct RestrictedStoreTests {
    /// Calls, and whether a key for `books` and `shops/s/staff` permits them.
    private static let calls: [(method: String, params: String, isAllowed: Bool)] = [
        ("documents.get", #"{"path": "books/a"}"#, true),
        ("documents.get", #"{"path": "books/a/reviews/r"}"#, true),
        ("documents.get", #"{"path": "shops/s/staff/x"}"#, true),
        ("documents.get", #"{"path": "shops/s"}"#, false),
        ("documents.get", #"{"path": "shops/s/goods/x"}"#, false),
        ("documents.get", #"{"path": "shops/t/staff/x"}"#, false),
        ("documents.get", #"{"path": "users/a"}"#, false),
        ("documents.get", #"{"path": "users/none"}"#, false),
        ("documents.get", #"{"path": "bookshelf/a"}"#, false),
        ("documents.get", #"{"path": "users/books/books/a"}"#, false),
        ("documents.batchGet", #"{"paths": ["books/a", "books/b"]}"#, true),
        ("documents.batchGet", #"{"paths": ["books/a", "users/a"]}"#, false),
        ("documents.list", #"{"collection": "books"}"#, true),
        ("documents.list", #"{"collection": "books/a/reviews", "showMissing": true}"#, true),
        ("documents.list", #"{"collection": "users"}"#, false),
        ("documents.history", #"{"path": "books/a"}"#, true),
        ("documents.history", #"{"path": "users/a"}"#, false),
        ("documents.restore", #"{"path": "users/a"}"#, false),
        ("documents.create", #"{"collection": "books", "fields": {}}"#, true),
        ("documents.create", #"{"collection": "users", "fields": {}}"#, false),
        ("documents.set", #"{"path": "books/n", "fields": {}}"#, true),
        ("documents.set", #"{"path": "users/n", "fields": {}}"#, false),
        ("documents.update", #"{"path": "users/a", "fields": {"x": 1}}"#, false),
        ("documents.delete", #"{"path": "users/a"}"#, false),
        ("documents.commit", #"{"writes": [{"set": {"path": "books/c", "fields": {}}}, {"delete": {"path": "books/d"}}]}"#, true),
        (
            "documents.commit", #"{"writes": [{"set": {"path": "books/c", "fields": {}}}, {"delete": {"path": "users/a"}}]}"#,
            false
        ),
        ("collections.size", #"{"collection": "books"}"#, true),
        ("collections.size", #"{"collection": "books/a/reviews"}"#, true),
        ("collections.size", #"{"collection": "users"}"#, false),
        ("collections.size", "{}", false),
        ("collections.list", #"{"parent": "books/a"}"#, true),
        ("collections.list", "{}", true),
        ("collections.list", #"{"parent": "shops/s"}"#, true),
        ("collections.list", #"{"parent": "shops/t"}"#, false),
        ("collections.list", #"{"parent": "users/a"}"#, false),
        ("query.run", #"{"collection": "books"}"#, true),
        ("query.run", #"{"parent": "books/a", "collection": "reviews"}"#, true),
        ("query.run", #"{"collection": "users"}"#, false),
        ("query.run", #"{"parent": "users/a", "collection": "reviews"}"#, false),
        ("query.run", #"{"collectionGroup": "books"}"#, false),
        ("query.run", #"{"collectionGroup": "reviews", "parent": "books/a"}"#, true),
        ("query.run", #"{"collectionGroup": "staff", "parent": "shops/s"}"#, false),
        ("query.run", #"{"allDescendants": true}"#, false),
        ("query.run", #"{"allDescendants": true, "parent": "books/a"}"#, true),
        ("query.aggregate", #"{"aggregations": [{"count": {}, "alias": "n"}], "collection": "books"}"#, true),
        ("query.aggregate", #"{"aggregations": [{"count": {}, "alias": "n"}], "collection": "users"}"#, false),
        ("query.aggregate", #"{"aggregations": [{"count": {}, "alias": "n"}], "collectionGroup": "users"}"#, false),
        ("query.explain", #"{"collection": "books"}"#, true),
        ("query.explain", #"{"collection": "users"}"#, false),
        ("changes.poll", #"{"collection": "books"}"#, true),
        ("changes.poll", #"{"collection": "users"}"#, false),
        ("changes.poll", #"{"document": "users/a"}"#, false),
        ("changes.poll", #"{"collectionGroup": "books"}"#, false),
        ("changes.poll", #"{"query": {"parent": "users/a", "collection": "reviews"}}"#, false),
        ("indexes.list", "{}", false),
    ]

    private func withRestrictedService(_ body: (TemporaryService, TemporaryService) async throws -> Void) async throws {
        try await withService { service in
            for path in ["books/a", "books/b", "books/a/reviews/r", "shops/s/staff/x", "users/a", "bookshelf/a"] {
                try await service.result(of: "documents.set", #"{"path": "\#(path)", "fields": {"secret": 1}}"#)
            }
            let keys = service.context.keys
            let collections = [try CollectionPath("books"), try CollectionPath("shops/s/staff")]
            let (_, text) = try await keys.create(.init(role: .writer, collections: collections))
            try await body(service.withCaller(try keys.authenticate(Array(text.utf8))), service)
        }
    }

    @Test
    func `Calls outside the collections are rejected, whether or not the target exists`() async throws {
        try await withRestrictedService { called, _ in
            for (method, params, isAllowed) in Self.calls {
                let response = try await called.response(to: method, params)
                let status = response["error"]?["data"]?["status"]?.string
                #expect((status == "PERMISSION_DENIED") == !isAllowed, "\(method) \(params)")
                if !isAllowed { #expect(response["result"] == nil) }
            }
        }
    }

    @Test
    func `Removed documents are seen in the collections only`() async throws {
        try await withRestrictedService { called, service in
            let filter = #""where": {"field": "secret", "op": "==", "value": 1}"#
            let poll = #""query": {"collection": "books", \#(filter)}"#
            let token = try JSONText(await called.result(of: "changes.poll", "{\(poll)}")).root["token"]?.string
            for path in ["books/a", "users/a", "bookshelf/a", "books/a/reviews/r"] {
                try await service.result(of: "documents.set", #"{"path": "\#(path)", "fields": {"secret": 2}}"#)
            }
            let params = try #"{\#(poll), "resume": "\#(#require(token))"}"#
            let changes = try JSONText(await called.result(of: "changes.poll", params)).root["changes"]?.elements.map(Array.init)
            #expect(changes?.map { $0["document"]?["path"]?.string } == ["books/a"])
            // A token of somebody else does not open another target.
            let others = #""query": {"collection": "users", \#(filter)}"#
            let other = try JSONText(await service.result(of: "changes.poll", "{\(others)}")).root["token"]?.string
            let refused = try await called.response(to: "changes.poll", #"{\#(others), "resume": "\#(#require(other))"}"#)
            #expect(refused["error"]?["data"]?["status"]?.string == "PERMISSION_DENIED")
        }
    }

    @Test
    func `All methods with paths are covered`() {
        let pathless: Set<UTF8Key> = [
            "transactions.begin", "transactions.rollback", "server.info", "server.log", "server.promote", "rpc.discover",
            "keys.create",
            "keys.list",
            "keys.revoke", "documents.batchWrite", "indexes.create", "indexes.delete", "indexes.exempt",
            "indexes.unexempt", "databases.list", "databases.create", "databases.delete",
            "databases.setQuota", "databases.getQuota", "files.problems", "files.acceptRemoved",
            "backups.create", "backups.verify", "backups.list", "rules.get", "rules.set",
            // Streams reject a target themselves.
            "watch.addTargets", "watch.removeTargets",
        ]
        let tried = Set(Self.calls.map { UTF8Key($0.method) })
        #expect(Set(HearthMethods.table.methods.map(\.name)).subtracting(pathless) == tried)
    }

    @Test
    func `server.info omits sizes and activity of other collections`() async throws {
        try await withRestrictedService { called, service in
            let omitted = ["size", "storage", "watchers", "commitsPerSecond", "memoryBytes"]
            let restricted = try JSONText(await called.result(of: "server.info", "{}")).root
            let everything = try JSONText(await service.result(of: "server.info", "{}")).root
            for member in omitted {
                #expect(restricted[UTF8Key(member)] == nil && everything[UTF8Key(member)] != nil, "\(member)")
            }
            #expect(everything.count - restricted.count == omitted.count)
        }
    }

    @Test
    func `collections.list returns the accessible non-empty collections, with paging`() async throws {
        try await withService { service in
            for path in ["books/a", "films/f/stars/s", "shops/s/staff/x", "shops/s/goods/y", "users/a", "zoo/z"] {
                try await service.result(of: "documents.set", #"{"path": "\#(path)", "fields": {}}"#)
            }
            let paths = try ["zoo", "books", "nothing", "films", "shops/s/staff"].map { try CollectionPath($0) }
            let (_, text) = try await service.context.keys.create(.init(role: .reader, collections: paths))
            let called = service.withCaller(try service.context.keys.authenticate(Array(text.utf8)))
            func listed(_ params: String) async throws -> [String] {
                let result = try JSONText(await called.result(of: "collections.list", params)).root
                return result["collections"]?.elements?.compactMap(\.string) ?? []
            }
            #expect(try await listed("{}") == ["books", "films", "zoo"])
            #expect(try await listed(#"{"parent": "shops/s"}"#) == ["staff"])
            #expect(try await listed(#"{"parent": "films/f"}"#) == ["stars"])
            var pages: [[String]] = []
            var token: String?
            repeat {
                let params = #"{"pageSize": 2\#(token.map { #", "pageToken": \#($0)"# } ?? "")}"#
                pages.append(try await listed(params))
                token = try await called.member("nextPageToken", of: "collections.list", params)
            } while token != nil
            #expect(pages == [["books", "films"], ["zoo"]])
        }
    }

    @Test
    func `A transaction is bound to the caller that began it`() async throws {
        try await withRestrictedService { called, service in
            let id = try #require(try await called.member("transaction", of: "transactions.begin", "{}"))
            let writes = #"{"transaction": \#(id), "writes": [{"set": {"path": "books/t", "fields": {}}}]}"#
            for (method, params) in [
                ("documents.commit", writes), ("documents.get", #"{"path": "books/a", "transaction": \#(id)}"#),
            ] {
                let error = try await service.response(to: method, params)["error"]
                #expect(error?["data"]?["status"]?.string == "INVALID_ARGUMENT", "\(method)")
            }
            try await service.result(of: "transactions.rollback", #"{"transaction": \#(id)}"#)
            try await called.result(of: "documents.get", #"{"path": "books/a", "transaction": \#(id)}"#)
            try await called.result(of: "documents.commit", writes)
        }
    }

    @Test
    func `A commit with an inaccessible document is rejected as a whole, with the index of the write`() async throws {
        try await withRestrictedService { called, service in
            let writes = #"{"writes": [{"set": {"path": "books/new", "fields": {}}}, {"delete": {"path": "users/a"}}]}"#
            let data = try await called.response(to: "documents.commit", writes)["error"]?["data"]
            #expect(data?["path"]?.string == "users/a")
            #expect(data?["parameter"]?.string == "params.writes[1]")
            #expect(try await service.response(to: "documents.get", #"{"path": "books/new"}"#)["error"] != nil)
            try await service.result(of: "documents.get", #"{"path": "users/a"}"#)
        }
    }

    @Test
    func `In a batch, only writes to inaccessible documents are rejected`() async throws {
        try await withRestrictedService { called, service in
            let writes = #"{"writes": [{"set": {"path": "books/new", "fields": {}}}, {"delete": {"path": "users/a"}}]}"#
            let results = try JSONText(try await called.result(of: "documents.batchWrite", writes)).root["writeResults"]
            let statuses = results?.elements.map { $0.map { $0["error"]?["data"]?["status"]?.string } }
            #expect(statuses == [nil, "PERMISSION_DENIED"])
            try await service.result(of: "documents.get", #"{"path": "users/a"}"#)
        }
    }

    @Test
    func `A transaction has no more access than its caller`() async throws {
        try await withRestrictedService { called, service in
            let begun = try await called.member("transaction", of: "transactions.begin", "{}")
            let transaction = try #require(begun)
            for (path, isAllowed) in [("books/a", true), ("users/a", false)] {
                let read = try await called.response(
                    to: "documents.get",
                    #"{"path": "\#(path)", "transaction": \#(transaction)}"#
                )
                #expect((read["error"] == nil) == isAllowed)
            }
            let commit = #"{"writes": [{"delete": {"path": "users/a"}}], "transaction": \#(transaction)}"#
            #expect(try await called.response(to: "documents.commit", commit)["error"]?["code"] != nil)
            try await service.result(of: "documents.get", #"{"path": "users/a"}"#)
        }
    }

    @Test(
        arguments: [
            (PreparedWatchTarget.collection(try! CollectionPath("books")), true), (.document(try! DocumentPath("books/a")), true),
            (.document(try! DocumentPath("shops/s/staff/x")), true), (.collection(try! CollectionPath("users")), false),
            (.document(try! DocumentPath("users/a")), false), (.document(try! DocumentPath("shops/s")), false),
        ]
    )
    func `Streams of inaccessible targets are rejected, including resumed ones`(
        target: PreparedWatchTarget,
        isAllowed: Bool
    ) async throws {
        try await withRestrictedService { called, service in
            var frames = try await WatchSession(WatchRequest(target: target), in: service.context).makeAsyncIterator()
            var token: ResumeToken?
            while token == nil, let next = try await frames.next() {
                for case .current(_, _, let current) in next { token = current }
            }
            for resume in [nil, token] {
                let request = WatchRequest(target: target, resume: resume)
                if isAllowed {
                    _ = try await WatchSession(request, in: called.context)
                } else {
                    let error = await #expect(throws: StatusError.self) { try await WatchSession(request, in: called.context) }
                    #expect(error?.code == .permissionDenied)
                }
            }
        }
    }

    @Test
    func `The commit log contains no changes in other collections`() async throws {
        try await withRestrictedService { called, service in
            var commits = called.context.store.commits(after: .zero).makeAsyncIterator()
            var paths: [String] = []
            for _ in 0..<6 { paths += try await commits.next()?.changes.map(\.path.string) ?? [] }
            #expect(paths == ["books/a", "books/b", "books/a/reviews/r", "shops/s/staff/x"])
        }
    }
}
