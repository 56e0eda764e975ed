import DocumentModel
import DocumentStore
import DocumentStoreConformance
import HearthAPI
import StrictJSON
import Testing
import UTF8Text

@Suite("Transactions") struct TransactionTests {
    private static func begin(_ params: String, in service: TemporaryService) async throws -> String {
        try #require(try await service.member("transaction", of: "transactions.begin", params))
    }

    @Test
    func `All reads show the snapshot of the first read`() async throws {
        try await withMemoryService { service in
            try await service.result(of: "documents.set", #"["a/1", {"v": 1}]"#)
            try await service.result(of: "documents.set", #"["a/2", {"v": 1}]"#)
            let transaction = try await Self.begin("{}", in: service)
            // A write between begin and the first read is visible.
            try await service.result(of: "documents.set", #"["a/1", {"v": 2}]"#)
            #expect(
                try await service.member("fields", of: "documents.get", #"{"path": "a/1", "transaction": \#(transaction)}"#)
                    == #"{"v":2}"#
            )
            try await service.result(of: "documents.set", #"["a/2", {"v": 2}]"#)
            try await service.result(of: "documents.set", #"["a/3", {"v": 2}]"#)
            let batch = try JSONText(
                await service.result(
                    of: "documents.batchGet",
                    #"{"paths": ["a/1", "a/2", "a/3"], "mask": ["v"], "transaction": \#(transaction)}"#
                )
            ).root
            let fields = try #require(batch["documents"]?.elements).map {
                $0["fields"].map { String(decoding: $0.rawBytes, as: UTF8.self) }
            }
            #expect(fields == [#"{"v":2}"#, #"{"v":1}"#, nil])
            let list = try JSONText(
                await service.result(of: "documents.list", #"{"collection": "a", "transaction": \#(transaction)}"#)
            ).root
            #expect(list["documents"]?.elements?.compactMap { $0["path"]?.string } == ["a/1", "a/2"])
        }
    }

    @Test(
        arguments: [
            (#"documents.get {"path": "a/1""#, "a/1", true), (#"documents.get {"path": "a/1""#, "a/2", false),
            (#"documents.get {"path": "a/1", "mask": []"#, "a/1", true),
            (#"documents.get {"path": "a/new""#, "a/new", true), (#"documents.get {"path": "a/new""#, "a/1", false),
            (#"documents.batchGet {"paths": ["a/2", "a/1"]"#, "a/1", true),
            (#"documents.batchGet {"paths": ["a/2", "a/new"]"#, "a/new", true),
            (#"documents.list {"collection": "a""#, "a/new", true), (#"documents.list {"collection": "a""#, "a/2", true),
            (#"documents.list {"collection": "a", "pageSize": 1"#, "a/2", true),
            (#"documents.list {"collection": "a""#, "b/new", false), (#"documents.list {"collection": "a""#, "a/1/b/new", false),
        ]
    )
    func `A commit is aborted only if read data has changed`(read: String, changed: String, isAborted: Bool) async throws {
        try await withMemoryService { service in
            try await service.result(of: "documents.set", #"["a/1", {"v": 1}]"#)
            try await service.result(of: "documents.set", #"["a/2", {"v": 1}]"#)
            let transaction = try await Self.begin(#"{"readWrite": {}}"#, in: service)
            let (method, params) = try #require(read.utf8.firstIndex(of: UInt8(ascii: " ")).map { (read[..<$0], read[$0...]) })
            _ = try await service.response(to: String(method), "\(params), \"transaction\": \(transaction)}")
            try await service.result(of: "documents.set", #"["\#(changed)", {"v": 2}]"#)
            let write = #"{"set": {"path": "out/1", "fields": {}}}"#
            let commit = #"{"writes": [\#(write)], "transaction": \#(transaction)}"#
            let response = try await service.response(to: "documents.commit", commit)
            #expect(response["error"]?["code"]?.number == (isAborted ? .integer(10) : nil))
            if isAborted {
                let data = try #require(response["error"]?["data"])
                #expect(data["status"]?.string == "ABORTED")
                #expect(data["retryAfterMilliseconds"]?.number == .integer(0))
                #expect(data["path"]?.string?.utf8.starts(with: changed.utf8.prefix(1)) == true)
            }
            let written = try await service.response(to: "documents.get", #"["out/1"]"#)["result"]
            #expect((written != nil) == !isAborted)
            let again = try await service.response(to: "documents.commit", commit)["error"]
            #expect(again?["code"]?.number == .integer(3), "the transaction has ended")
        }
    }

    @Test
    func `Writes without reads do not conflict`() async throws {
        try await withMemoryService { service in
            let transaction = try await Self.begin("{}", in: service)
            try await service.result(of: "documents.set", #"["a/1", {"v": 1}]"#)
            let commit = #"{"writes": [{"set": {"path": "a/1", "fields": {"v": 2}}}], "transaction": \#(transaction)}"#
            #expect(try await service.member("writeResults", of: "documents.commit", commit) != nil)
        }
    }

    @Test
    func `A read with its own readTime is not validated at commit`() async throws {
        try await withMemoryService { service in
            let set = try JSONText(await service.result(of: "documents.set", #"["a/1", {"v": 1}]"#)).root
            let time = try #require(set["updateTime"]?.string)
            try await service.result(of: "documents.set", #"["a/1", {"v": 2}]"#)
            let transaction = try await Self.begin("{}", in: service)
            let params = #"{"path": "a/1", "readTime": "\#(time)", "transaction": \#(transaction)}"#
            #expect(try await service.member("fields", of: "documents.get", params) == #"{"v":1}"#)
            try await service.result(of: "documents.set", #"["a/1", {"v": 3}]"#)
            try await service.result(of: "documents.commit", #"{"writes": [], "transaction": \#(transaction)}"#)
        }
    }

    @Test
    func `A read-only transaction reads one snapshot and rejects writes`() async throws {
        try await withMemoryService { service in
            let set = try JSONText(await service.result(of: "documents.set", #"["a/1", {"v": 1}]"#)).root
            let time = try #require(set["updateTime"]?.string)
            try await service.result(of: "documents.set", #"["a/1", {"v": 2}]"#)
            let early = try await Self.begin(#"{"readOnly": {"readTime": "\#(time)"}}"#, in: service)
            let late = try await Self.begin(#"{"readOnly": {}}"#, in: service)
            try await service.result(of: "documents.set", #"["a/1", {"v": 3}]"#)
            try await service.result(of: "documents.set", #"["a/2", {"v": 3}]"#)
            for (transaction, fields) in [(early, #"{"v":1}"#), (late, #"{"v":2}"#)] {
                let get = #"{"path": "a/1", "transaction": \#(transaction)}"#
                #expect(try await service.member("fields", of: "documents.get", get) == fields)
                let list = #"{"collection": "a", "showMissing": true, "transaction": \#(transaction)}"#
                #expect(try JSONText(await service.result(of: "documents.list", list)).root["documents"]?.count == 1)
                let write = #"{"writes": [{"delete": {"path": "a/1"}}], "transaction": \#(transaction)}"#
                #expect(try await service.response(to: "documents.commit", write)["error"]?["code"]?.number == .integer(3))
            }
            let empty = try await Self.begin(#"{"readOnly": {}}"#, in: service)
            try await service.result(of: "documents.commit", #"{"writes": [], "transaction": \#(empty)}"#)
        }
    }

    @Test(
        arguments: [
            "transactions.rollback", "documents.commit", "",
        ]
    )
    func `Ended and unknown transactions are rejected, but can be rolled back`(by method: String) async throws {
        try await withMemoryService { service in
            var transaction = #""AAAAAAAAAAAAAAAAAAAAAA""#
            if !method.utf8.isEmpty {
                transaction = try await Self.begin("{}", in: service)
                let writes = method.utf8.starts(with: "d".utf8) ? #""writes": [], "# : ""
                try await service.result(of: method, "{\(writes)\"transaction\": \(transaction)}")
            }
            for (method, params) in [
                ("documents.get", #""path": "a/1""#), ("documents.batchGet", #""paths": []"#),
                ("documents.list", #""collection": "a""#), ("documents.commit", #""writes": []"#),
            ] {
                let error = try #require(
                    try await service.response(to: method, "{\(params), \"transaction\": \(transaction)}")["error"]
                )
                #expect(error["code"]?.number == .integer(3))
                #expect(error["message"]?.string?.contains("transaction has expired") == true)
            }
            #expect(try await service.result(of: "transactions.rollback", "[\(transaction)]") == "{}")
            #expect(service.context.transactions.count == 0)
        }
    }

    @Test
    func `A read-write transaction cannot list missing documents`() async throws {
        try await withMemoryService { service in
            let transaction = try await Self.begin("{}", in: service)
            let list = #"{"collection": "a", "showMissing": true, "transaction": \#(transaction)}"#
            #expect(try await service.response(to: "documents.list", list)["error"]?["code"]?.number == .integer(3))
        }
    }

    @Test
    func `A transaction is aborted when its snapshot is no longer retained`() async throws {
        let store = MemoryStore()
        try await withMemoryService(store) { service in
            try await service.result(of: "documents.set", #"["a/1", {"v": 1}]"#)
            let transaction = try await Self.begin("{}", in: service)
            try await service.result(of: "documents.get", #"{"path": "a/1", "transaction": \#(transaction)}"#)
            for version in 2...5 { try await service.result(of: "documents.set", #"["a/1", {"v": \#(version)}]"#) }
            store.discardHistory(keeping: 1)
            let params = #"{"path": "a/2", "transaction": \#(transaction)}"#
            let error = try await service.response(to: "documents.get", params)["error"]
            #expect(error?["code"]?.number == .integer(10))
        }
    }
}
