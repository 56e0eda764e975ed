import DocumentModel
import DocumentStore
import HearthAPI
import StrictJSON
import Testing
import UTF8Text

@Suite("Point-in-time reads") struct ReadTimeTests {
    /// Creates five versions of a document, the third a deletion, and returns them with their commit times.
    private static func versions(in service: TemporaryService) async throws -> [(time: String, fields: String?)] {
        var versions: [(time: String, fields: String?)] = []
        for version in 1...5 {
            let write =
                version == 3
                ? #"{"delete": {"path": "a/1"}}"#
                : #"{"set": {"path": "a/1", "fields": {"v": \#(version), "w": 0}}}"#
            let commit = try JSONText(await service.result(of: "documents.commit", #"{"writes": [\#(write)]}"#)).root
            versions.append((try #require(commit["commitTime"]?.string), version == 3 ? nil : #"{"v":\#(version)}"#))
            try await service.result(of: "documents.set", #"["a/0", {"v": \#(version)}]"#)
        }
        return versions
    }

    @Test
    func `Documents and lists are read at a point in time`() async throws {
        try await withService { service in
            for (time, fields) in try await Self.versions(in: service) {
                let options = #""mask": ["v"], "readTime": "\#(time)""#
                let get = try await service.response(to: "documents.get", #"{"path": "a/1", \#(options)}"#)
                #expect(get["result"]?["fields"].map { String(decoding: $0.rawBytes, as: UTF8.self) } == fields)
                #expect((get["error"]?["code"]?.number == .integer(5)) == (fields == nil))
                for (method, params) in [("documents.batchGet", #""paths": ["a/1"]"#), ("documents.list", #""collection": "a""#)]
                {
                    let result = try JSONText(await service.result(of: method, "{\(params), \(options)}")).root
                    let found = result["documents"]?.elements.flatMap { documents in
                        documents.first { $0["path"]?.string == "a/1" }?["fields"]
                    }
                    #expect(found.map { String(decoding: $0.rawBytes, as: UTF8.self) } == fields, "\(method) at \(time)")
                }
            }
        }
    }

    @Test
    func `A batch read tells the time as of which it holds`() async throws {
        try await withService { service in
            func readTime(_ options: String = "") async throws -> String? {
                let result = try await service.result(of: "documents.batchGet", #"{"paths": ["a/1", "a/2"]\#(options)}"#)
                return try JSONText(result).root["readTime"]?.string
            }
            let versions = try await Self.versions(in: service)
            let last = try JSONText(await service.result(of: "documents.get", #"["a/0"]"#)).root["updateTime"]?.string
            let now = try await readTime()
            #expect(now == last)
            for version in versions {
                let time = try await readTime(#", "readTime": "\#(version.time)""#)
                #expect(time == version.time)
            }
            let begun = try JSONText(await service.result(of: "transactions.begin", "{}")).root
            let transaction = try #require(begun["transaction"]?.string)
            let first = try await readTime(#", "transaction": "\#(transaction)""#)
            try await service.result(of: "documents.set", #"["a/2", {"v": 1}]"#)
            let second = try await readTime(#", "transaction": "\#(transaction)""#)
            let later = try await readTime()
            #expect(first == last && second == last)
            let updated = try JSONText(await service.result(of: "documents.get", #"["a/2"]"#)).root["updateTime"]?.string
            #expect(later == updated)
        }
    }

    @Test
    func `Collections are listed at a point in time`() async throws {
        try await withService { service in
            var times: [String] = []
            for write in [
                #"{"set": {"path": "a/1", "fields": {}}}"#, #"{"set": {"path": "b/1", "fields": {}}}"#,
                #"{"delete": {"path": "a/1"}}"#,
            ] {
                let commit = try JSONText(await service.result(of: "documents.commit", #"{"writes": [\#(write)]}"#)).root
                times.append(try #require(commit["commitTime"]?.string))
            }
            for (time, expected) in zip(times, [["a"], ["a", "b"], ["b"]]) {
                let result = try JSONText(await service.result(of: "collections.list", #"{"readTime": "\#(time)"}"#)).root
                #expect(result["collections"]?.elements?.compactMap(\.string) == expected)
            }
        }
    }

    @Test(
        arguments: ["documents.get", "documents.batchGet", "documents.list", "collections.list"]
    )
    func `A read time in the future is rejected`(method: String) async throws {
        try await withService { service in
            try await service.result(of: "documents.set", #"["a/1", {"v": 1}]"#)
            let target =
                switch method {
                case "documents.get": #""path": "a/1""#
                case "documents.batchGet": #""paths": ["a/1"]"#
                case "collections.list": #""pageSize": 1"#
                default: #""collection": "a""#
                }
            let error = try await service.response(to: method, #"{\#(target), "readTime": "9999-01-01T00:00:00Z"}"#)["error"]
            #expect(error?["code"]?.number == .integer(3))
        }
    }

    @Test(arguments: [1, 2, 5, 100])
    func `The history of a document has all versions, newest first, with paging`(size: Int) async throws {
        try await withService { service in
            let versions = try await Self.versions(in: service)
            var found: [(String?, JSONNode?)] = []
            var token = ""
            repeat {
                let params = #"{"path": "a/1", "pageSize": \#(size)\#(token)}"#
                let page = try JSONText(await service.result(of: "documents.history", params)).root
                let elements = try #require(page["versions"]?.elements)
                #expect(elements.underestimatedCount <= size)
                for version in elements { found.append((version["commitTime"]?.string, version["document"]?["fields"]?["v"])) }
                token = page["nextPageToken"].map { #", "pageToken": \#(String(decoding: $0.rawBytes, as: UTF8.self))"# } ?? ""
            } while !token.utf8.isEmpty
            #expect(found.map(\.0) == versions.reversed().map(\.time))
            #expect(found.map { $0.1?.number } == [.integer(5), .integer(4), nil, .integer(2), .integer(1)])
        }
    }

    @Test
    func `A document that never existed has no history`() async throws {
        try await withService { service in
            #expect(try await service.result(of: "documents.history", #"["a/b"]"#) == #"{"versions":[]}"#)
            let error = try await service.response(to: "documents.history", #"{"path": "a/b", "pageToken": "AWE"}"#)["error"]
            #expect(error?["data"]?["parameter"]?.string == "params.pageToken")
        }
    }
}
