import DocumentModel
import DocumentStore
import HearthAPI
import StrictJSON
import Testing
import UTF8Text

@Suite("documents.commit") struct CommitWritesTests {
    @Test
    func `An empty commit has a commit time and no results`() async throws {
        try await withService { service in
            let results = try await service.member("writeResults", of: "documents.commit", #"{"writes": []}"#)
            #expect(results == "[]")
            #expect(service.context.store.position.lastSequence == .zero)
        }
    }

    @Test
    func `Writes to one document see each other and share the commit time`() async throws {
        try await withService { service in
            try await service.result(of: "documents.set", #"["a/b", {"n": 1}]"#)
            let writes = #"""
                [
                    {"update": {"path": "a/b", "transforms": [{"field": "n", "increment": 4}]}},
                    {"delete": {"path": "a/b"}},
                    {"set": {"path": "a/b", "fields": {}, "transforms": [{"field": "n", "increment": 3}], "precondition": {"exists": false}}},
                    {"update": {"path": "a/b", "fields": {"m": 1}}}
                ]
                """#
            let commit = try JSONText(await service.result(of: "documents.commit", #"{"writes": \#(writes)}"#)).root
            let time = try #require(commit["commitTime"]?.string)
            let results = try #require(commit["writeResults"]?.elements.map(Array.init))
            #expect(results.map { $0["updateTime"]?.string } == [time, nil, time, time])
            let document = try JSONText(await service.result(of: "documents.get", #"["a/b"]"#)).root
            #expect(document["fields"].map { String(decoding: $0.rawBytes, as: UTF8.self) } == #"{"m":1,"n":3}"#)
            #expect(document["createTime"]?.string == time)
        }
    }

    @Test
    func `The server timestamp is the same for all fields and documents of a commit, in milliseconds`() async throws {
        try await withService { service in
            let transforms = #""transforms": [{"field": "s", "serverTimestamp": true}, {"field": "t", "serverTimestamp": true}]"#
            let writes = ["a/1", "a/2"].map { #"{"set": {"path": "\#($0)", "fields": {}, \#(transforms)}}"# }.joined(
                separator: ","
            )
            let commit = try JSONText(await service.result(of: "documents.commit", #"{"writes": [\#(writes)]}"#)).root
            let times = try #require(commit["writeResults"]?.elements).flatMap { result in
                result["transformResults"]?.elements?.compactMap { $0["$timestamp"]?.string } ?? []
            }
            #expect(times.count == 4)
            #expect(Set(times).count == 1)
            let time = try Timestamp(rfc3339: try #require(times.first))
            let commitTime = try Timestamp(rfc3339: try #require(commit["commitTime"]?.string))
            #expect(time.microseconds % 1_000 == 0)
            #expect((0..<1_000).contains(commitTime.microseconds - time.microseconds))
        }
    }

    @Test(
        arguments: [
            #"{"set": {"path": "a/b", "fields": {"n": 1, "l": [1]}}}"#,
            #"{"set": {"path": "a/b", "fields": {}, "merge": true}}"#,
            #"{"set": {"path": "a/b", "fields": {"n": 1}, "mergeFields": []}}"#,
            #"{"update": {"path": "a/b", "fields": {"n": 1}, "delete": ["x.y"]}}"#,
            #"{"update": {"path": "a/b", "transforms": [{"field": "n", "increment": 0}, {"field": "l", "arrayUnion": [1.0]}]}}"#,
            #"{"update": {"path": "a/b", "transforms": [{"field": "n", "maximum": 1.0}]}}"#,
            #"{"delete": {"path": "a/missing"}}"#,
        ]
    )
    func `A write without effect keeps the update time and creates no commit`(write: String) async throws {
        try await withService { service in
            let set = try JSONText(await service.result(of: "documents.set", #"["a/b", {"n": 1, "l": [1]}]"#)).root
            let sequence = service.context.store.position.lastSequence
            let commit = try JSONText(await service.result(of: "documents.commit", #"{"writes": [\#(write)]}"#)).root
            let result = commit["writeResults"]?.elements.flatMap { Array($0).first }
            if !write.utf8.starts(with: #"{"delete""#.utf8) {
                #expect(result?["updateTime"]?.string == set["updateTime"]?.string)
            }
            #expect(try await service.member("fields", of: "documents.get", #"["a/b"]"#) == #"{"l":[1],"n":1}"#)
            #expect(service.context.store.position.lastSequence == sequence)
        }
    }

    @Test
    func `A document can have 500 transforms per commit, across all writes`() async throws {
        func write(_ path: String, _ count: Int) -> String {
            let transforms = (0..<count).map { #"{"field": "f\#($0)", "increment": 1}"# }.joined(separator: ",")
            return #"{"set": {"path": "\#(path)", "fields": {}, "merge": true, "transforms": [\#(transforms)]}}"#
        }
        try await withService { service in
            let most = [write("a/1", 250), write("a/2", 500), write("a/1", 250)].joined(separator: ",")
            try await service.result(of: "documents.commit", #"{"writes": [\#(most)]}"#)
            let more = [write("a/1", 250), write("a/2", 500), write("a/1", 251)].joined(separator: ",")
            let error = try await service.response(to: "documents.commit", #"{"writes": [\#(more)]}"#)["error"]
            #expect(error?["code"]?.number == .integer(3))
            #expect(error?["data"]?["path"]?.string == "a/1")
            #expect(error?["data"]?["parameter"]?.string == "params.writes[2]")
            let alone = try await service.response(to: "documents.commit", #"{"writes": [\#(write("a/1", 501))]}"#)["error"]
            #expect(alone?["data"]?["parameter"]?.string == "params.writes[0].set.transforms")
        }
    }

    @Test(
        arguments: [
            ("2001-01-01T00:00:00Z", 9 as Int64), ("9999-01-01T00:00:00Z", 3), ("2001-01-01T00:00:00.0000001Z", 3),
        ]
    )
    func `Past, future and submicrosecond update times do not match`(time: String, code: Int64) async throws {
        try await withService { service in
            try await service.result(of: "documents.set", #"["a/b", {}]"#)
            for (method, members) in [("set", #""fields": {}, "#), ("update", #""fields": {"a": 1}, "#), ("delete", "")] {
                let params = #"{\#(members)"path": "a/b", "precondition": {"updateTime": "\#(time)"}}"#
                let error = try await service.response(to: "documents.\(method)", params)["error"]
                #expect(error?["code"]?.number == .integer(code))
                #expect(error?["data"]?["path"]?.string == "a/b")
            }
        }
    }
}
