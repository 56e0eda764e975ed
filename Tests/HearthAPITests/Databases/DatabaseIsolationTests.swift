import DocumentModel
import DocumentStore
import Foundation
import HearthAPI
import StrictJSON
import Testing
import UTF8Text

@Suite("Database isolation", .timeLimit(.minutes(10)))
struct DatabaseIsolationTests {
    @Test
    func `Databases have separate documents, histories and commit logs`() async throws {
        try await withService { service in
            for (name, count) in [("a", 3), ("b", 1), ("shop/a", 2)] {
                for number in 1...count {
                    let params = #"{"path": "c/d", "fields": {"n": \#(number), "in": "\#(name)"}, "database": "\#(name)"}"#
                    try await service.result(of: "documents.set", params)
                }
            }
            for (name, count) in [("a", 3), ("b", 1), ("shop/a", 2)] {
                let selector = #""database": "\#(name)""#
                let fields = try await service.member("fields", of: "documents.get", #"{"path": "c/d", \#(selector)}"#)
                #expect(fields == #"{"in":"\#(name)","n":\#(count)}"#)
                #expect(try await service.member("sequence", of: "server.info", "{\(selector)}") == "\(count)")
                let versions = try await service.result(of: "documents.history", #"{"path": "c/d", \#(selector)}"#)
                #expect(try JSONText(versions).root["versions"]?.count == count)
                let found = try await service.result(of: "query.run", #"{"collection": "c", \#(selector)}"#)
                #expect(try JSONText(found).root["documents"]?.count == 1)
            }
            #expect(try await service.result(of: "documents.list", #"["c"]"#) == #"{"documents":[]}"#)
            #expect(try await service.member("sequence", of: "server.info", "{}") == "0")
            #expect(try await service.databaseNames() == ["hearth/(default)", "hearth/a", "hearth/b", "shop/a"])
        }
    }

    @Test
    func `A database that does not exist reads as empty and has no folder`() async throws {
        try await withService { service in
            func result(_ method: String, _ members: String) async throws -> String {
                try await service.result(of: method, #"{\#(members), "database": "none"}"#)
            }
            #expect(try await result("documents.list", #""collection": "c""#) == #"{"documents":[]}"#)
            #expect(try await result("collections.list", #""pageSize": 1"#) == #"{"collections":[]}"#)
            #expect(try await result("documents.history", #""path": "c/d""#) == #"{"versions":[]}"#)
            #expect(try await result("query.run", #""collection": "c""#).hasPrefix(#"{"documents":[],"#))
            let count = try await result("query.aggregate", #""collection": "c", "aggregations": [{"count": {}}]"#)
            #expect(try JSONText(count).root["result"]?["field_1"]?.number == .integer(0))
            let get = try await service.response(to: "documents.get", #"{"path": "c/d", "database": "none"}"#)
            #expect(get["error"]?["data"]?["status"]?.string == "NOT_FOUND")
            let begun = try await result("transactions.begin", #""readWrite": {}"#)
            let transaction = try #require(try JSONText(begun).root["transaction"]?.string)
            _ = try await result("documents.list", #""collection": "c", "transaction": "\#(transaction)""#)
            _ = try await result("documents.commit", #""writes": [], "transaction": "\#(transaction)""#)
            #expect(!FileManager.default.fileExists(atPath: service.folder + "/databases"))
        }
    }

    @Test
    func `Transactions of another database are rejected`() async throws {
        try await withService { service in
            func begin(_ database: String) async throws -> String {
                let begun = try await service.result(of: "transactions.begin", #"{"database": "\#(database)"}"#)
                return try #require(try JSONText(begun).root["transaction"]?.string)
            }
            for (own, other) in [("(default)", "a"), ("a", "(default)"), ("a", "b")] {
                let transaction = try await begin(own)
                for (method, members) in [
                    ("documents.list", #""collection": "c""#),
                    ("documents.commit", #""writes": [{"set": {"path": "c/d", "fields": {}}}]"#),
                ] {
                    let params = #"{\#(members), "transaction": "\#(transaction)", "database": "\#(other)"}"#
                    let error = try await service.response(to: method, params)["error"]
                    #expect(error?["data"]?["status"]?.string == "INVALID_ARGUMENT")
                    #expect(error?["message"]?.string?.contains("another database") == true)
                }
                // It remains valid in its own database.
                let writes = #""writes": [{"set": {"path": "c/d", "fields": {}}}]"#
                try await service.result(
                    of: "documents.commit",
                    #"{\#(writes), "transaction": "\#(transaction)", "database": "\#(own)"}"#
                )
            }
        }
    }

    @Test
    func `A transaction conflicts only with changes in its own database`() async throws {
        try await withService { service in
            let begun = try await service.result(of: "transactions.begin", #"{"database": "a"}"#)
            let transaction = try #require(try JSONText(begun).root["transaction"]?.string)
            _ = try await service.response(
                to: "documents.get",
                #"{"path": "c/d", "transaction": "\#(transaction)", "database": "a"}"#
            )
            try await service.result(of: "documents.set", #"{"path": "c/d", "fields": {}}"#)
            try await service.result(of: "documents.set", #"{"path": "c/d", "fields": {}, "database": "b"}"#)
            let commit = #"""
                {"writes": [{"set": {"path": "c/e", "fields": {}}}], "transaction": "\#(transaction)", "database": "a"}
                """#
            // The commit creates the database, and the reads before its creation remain valid.
            try await service.result(of: "documents.commit", commit)
            #expect(try await service.databaseNames() == ["hearth/(default)", "hearth/a", "hearth/b"])
        }
    }

    @Test(arguments: [("(default)", "a"), ("a", "(default)"), ("a", "b")])
    func `Page tokens of another database are rejected`(own: String, other: String) async throws {
        try await withService { service in
            for database in Set([own, other]) {
                for id in ["a", "b"] {
                    let params = #"{"path": "\#(id)/\#(id)", "fields": {}, "database": "\#(database)"}"#
                    try await service.result(of: "documents.set", params)
                    try await service.result(of: "documents.delete", #"{"path": "c/d", "database": "\#(database)"}"#)
                    let more = #"{"path": "c/\#(id)", "fields": {}, "database": "\#(database)"}"#
                    try await service.result(of: "documents.set", more)
                    try await service.result(
                        of: "documents.set",
                        #"{"path": "v/v", "fields": {"v": "\#(id)"}, "database": "\#(database)"}"#
                    )
                }
            }
            for (method, members) in [
                ("documents.list", #""collection": "c""#), ("collections.list", #""readTime": null"#),
                ("documents.history", #""path": "v/v""#),
            ] {
                let first = try await service.result(of: method, #"{\#(members), "pageSize": 1, "database": "\#(own)"}"#)
                let token = try #require(try JSONText(first).root["nextPageToken"]?.string)
                let page = #"\#(members), "pageSize": 1, "pageToken": "\#(token)""#
                try await service.result(of: method, #"{\#(page), "database": "\#(own)"}"#)
                let error = try await service.response(to: method, #"{\#(page), "database": "\#(other)"}"#)["error"]
                #expect(error?["data"]?["status"]?.string == "INVALID_ARGUMENT")
                #expect(error?["data"]?["parameter"]?.string == "params.pageToken")
                #expect(error?["message"]?.string?.contains("another database") == true)
            }
        }
    }

    @Test(arguments: [("(default)", "a"), ("a", "(default)"), ("a", "b")])
    func `Resume tokens of another database are rejected`(own: String, other: String) async throws {
        try await withService { service in
            let first = try await service.result(of: "changes.poll", #"{"collection": "c", "database": "\#(own)"}"#)
            let token = try #require(try JSONText(first).root["token"]?.string)
            let poll = #""collection": "c", "resume": "\#(token)""#
            try await service.result(of: "documents.set", #"{"path": "c/d", "fields": {}, "database": "\#(own)"}"#)
            let changes = try await service.member("changes", of: "changes.poll", #"{\#(poll), "database": "\#(own)"}"#)
            #expect(changes?.contains("c/d") == true)
            let error = try await service.response(to: "changes.poll", #"{\#(poll), "database": "\#(other)"}"#)["error"]
            #expect(error?["data"]?["status"]?.string == "INVALID_ARGUMENT")
            #expect(error?["message"]?.string?.contains("in another database") == true)
        }
    }

    @Test
    func `A database can be watched before it exists`() async throws {
        try await withService { service in
            let context = try await service.context.inDatabase(named: "a")
            let session = try await WatchSession(WatchRequest(target: .collection(CollectionPath("c"))), in: context)
            var replica = WatchReplica()
            var isWritten = false
            for try await frames in session {
                replica.apply(frames)
                guard replica.isCurrent else { continue }
                if isWritten, replica.documents.count == 1 { break }
                guard !isWritten else { continue }
                isWritten = true
                try await service.result(of: "documents.set", #"{"path": "c/d", "fields": {"v": 1}, "database": "b"}"#)
                try await service.result(of: "documents.set", #"{"path": "c/d", "fields": {"v": 2}}"#)
                // A failed first write creates the database, but no frame.
                _ = try await service.response(to: "documents.update", #"{"path": "c/x", "fields": {"v": 0}, "database": "a"}"#)
                try await service.result(of: "documents.set", #"{"path": "c/d", "fields": {"v": 3}, "database": "a"}"#)
            }
            #expect(replica.log.filter { $0 != "checkpoint" } == ["open", "current 0", "added d 3"])
            #expect(replica.violations.isEmpty)
        }
    }
}
