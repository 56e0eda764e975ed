import DocumentModel
import DocumentStore
import HearthService
import StrictJSON
import Testing

/// Reading what was.
@Suite struct ReadTimeTests {
    /// Five versions of a document, the third of which is that there is none, each with its commit time.
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

    @Test("Documents and lists are shown as they were at a time")
    func reads() async throws {
        try await withService { service in
            for (time, fields) in try await Self.versions(in: service) {
                let point = #""mask": ["v"], "readTime": "\#(time)""#
                let get = try await service.response(to: "documents.get", #"{"path": "a/1", \#(point)}"#)
                #expect(get["result"]?["fields"].map { String(decoding: $0.rawBytes, as: UTF8.self) } == fields)
                #expect((get["error"]?["code"]?.number == .integer(5)) == (fields == nil))
                for (method, params) in [("documents.batchGet", #""paths": ["a/1"]"#), ("documents.list", #""collection": "a""#)]
                {
                    let result = try JSONText(await service.result(of: method, "{\(params), \(point)}")).root
                    let found = result["documents"]?.elements.flatMap { documents in
                        documents.first { $0["path"]?.string == "a/1" }?["fields"]
                    }
                    #expect(found.map { String(decoding: $0.rawBytes, as: UTF8.self) } == fields, "\(method) at \(time)")
                }
            }
        }
    }

    @Test("Collections are listed as they were at a time")
    func collections() async throws {
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
        "A time that is yet to come is refused",
        arguments: ["documents.get", "documents.batchGet", "documents.list", "collections.list"]
    )
    func future(method: String) async throws {
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

    @Test("The history of a document has all its versions, the newest first, page by page", arguments: [1, 2, 5, 100])
    func history(size: Int) async throws {
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

    @Test("A document that never was has no history")
    func none() async throws {
        try await withService { service in
            #expect(try await service.result(of: "documents.history", #"["a/b"]"#) == #"{"versions":[]}"#)
            let error = try await service.response(to: "documents.history", #"{"path": "a/b", "pageToken": "AWE"}"#)["error"]
            #expect(error?["data"]?["parameter"]?.string == "params.pageToken")
        }
    }
}
