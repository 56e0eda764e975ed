import DocumentModel
import DocumentStore
import HearthAPI
import Logging
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Document methods") struct DocumentMethodTests {
    @Test
    func `A document created without ID gets a random one of 20 letters and digits`() async throws {
        try await withService { service in
            let path = try #require(
                try await service.member("path", of: "documents.create", #"["books", {"title": "Dirk Gently"}]"#)
            )
            let id = path.utf8.dropFirst(#""books/"#.utf8.count).dropLast()
            #expect(id.count == 20)
            #expect(try await service.member("fields", of: "documents.get", "[\(path)]") == #"{"title":"Dirk Gently"}"#)
        }
    }

    @Test
    func `Parameters are accepted by position and by name`() async throws {
        try await withService { service in
            try await service.result(of: "documents.set", #"["a/b", {"x": 1}]"#)
            let byPosition = try await service.result(of: "documents.get", #"["a/b"]"#)
            #expect(try await service.result(of: "documents.get", #"{"path": "a/b"}"#) == byPosition)
        }
    }

    @Test(
        arguments: [
            (#"{"b": {"y": 3}}"#, "", #"{"b":{"y":3}}"#),
            (#"{"b": {"y": 3}}"#, #", "merge": true"#, #"{"a":1,"b":{"x":2,"y":3}}"#),
            (#"{"b": {"y": 3}, "c": 4}"#, #", "mergeFields": ["b"]"#, #"{"a":1,"b":{"y":3}}"#),
            (#"{"b": {"y": 3}}"#, #", "merge": false"#, #"{"b":{"y":3}}"#),
            (#"{"b": {"y": 3}}"#, #", "merge": true, "delete": ["a", "b.x", "z"]"#, #"{"b":{"y":3}}"#),
            (#"{"c": 3}"#, #", "mergeFields": ["c", "b"], "delete": ["a", "b"]"#, #"{"a":1,"c":3}"#),
            (#"{}"#, #", "mergeFields": ["n"], "transforms": [{"field": "n", "increment": 2}]"#, #"{"a":1,"b":{"x":2},"n":2}"#),
            (#"{"z": 1}"#, #", "mergeFields": []"#, #"{"a":1,"b":{"x":2}}"#),
            (#"{}"#, #", "transforms": [{"field": "n.m", "increment": 2}], "merge": true"#, #"{"a":1,"b":{"x":2},"n":{"m":2}}"#),
        ]
    )
    func `documents.set replaces, merges, or replaces the named fields`(
        fields: String,
        options: String,
        expected: String
    ) async throws {
        try await withService { service in
            try await service.result(of: "documents.set", #"{"path": "a/b", "fields": {"a": 1, "b": {"x": 2}}}"#)
            try await service.result(of: "documents.set", #"{"path": "a/b", "fields": \#(fields)\#(options)}"#)
            #expect(try await service.member("fields", of: "documents.get", #"{"path": "a/b"}"#) == expected)
        }
    }

    @Test(
        arguments: [
            (#""mergeFields": ["a"]"#, "a"), (#""mergeFields": ["b", "c"], "delete": ["b"]"#, "c"), (#""delete": ["a"]"#, "a"),
        ]
    )
    func `A missing merge field, and a deletion without merge, are rejected`(options: String, field: String) async throws {
        try await withService { service in
            try await service.result(of: "documents.set", #"["a/b", {"a": 1, "b": 2}]"#)
            let response = try await service.response(to: "documents.set", #"{"path": "a/b", "fields": {}, \#(options)}"#)
            #expect(response["error"]?["code"]?.number == .integer(3))
            #expect(response["error"]?["data"]?["field"]?.string == field)
            #expect(try await service.member("fields", of: "documents.get", #"["a/b"]"#) == #"{"a":1,"b":2}"#)
        }
    }

    @Test
    func `The keys of an update are field paths with quoted names`() async throws {
        try await withService { service in
            try await service.result(of: "documents.set", #"{"path": "a/b", "fields": {"a": {"b": 1, "b.c": 2}, "old": 3}}"#)
            let update = #"{"path": "a/b", "fields": {"a.b": 4, "a.`b.c`": 5, "`new one`": [6]}, "delete": ["old"]}"#
            try await service.result(of: "documents.update", update)
            let fields = try await service.member("fields", of: "documents.get", #"{"path": "a/b"}"#)
            #expect(fields == #"{"a":{"b":4,"b.c":5},"new one":[6]}"#)
        }
    }

    @Test(
        arguments: [
            (#"{"field": "n", "increment": 2}"#, "[3]"), (#"{"field": "n", "increment": 0.5}"#, "[1.5]"),
            (#"{"field": "n", "maximum": 7}"#, "[7]"), (#"{"field": "n", "minimum": -7.0}"#, "[-7.0]"),
            (#"{"field": "list", "arrayUnion": [1, null]}"#, "[null]"), (#"{"field": "list", "arrayRemove": [1]}"#, "[null]"),
        ]
    )
    func `Transforms return their results`(transform: String, expected: String) async throws {
        try await withService { service in
            try await service.result(of: "documents.set", #"["a/b", {"n": 1, "list": [1, 2]}]"#)
            let params = #"{"path": "a/b", "transforms": [\#(transform)]}"#
            #expect(try await service.member("transformResults", of: "documents.update", params) == expected)
        }
    }

    @Test
    func `A commit is atomic`() async throws {
        try await withService { service in
            let writes = #"[{"set": {"path": "a/b", "fields": {}}}, {"update": {"path": "a/missing", "fields": {"x": 1}}}]"#
            let response = try await service.response(to: "documents.commit", #"{"writes": \#(writes)}"#)
            #expect(response["error"]?["code"]?.number == .integer(5))
            let read = try await service.result(of: "documents.batchGet", #"{"paths": ["a/b"]}"#)
            #expect(read.hasPrefix(#"{"documents":[{"path":"a/b"}],"readTime":"0001-01-01T00:00:00.000000Z","epoch":"#))
        }
    }

    @Test
    func `Deleting a document removes it, and deleting a missing one succeeds`() async throws {
        try await withService { service in
            try await service.result(of: "documents.set", #"["a/b", {}]"#)
            #expect(try await service.result(of: "documents.delete", #"["a/b"]"#) == "{}")
            #expect(try await service.result(of: "documents.delete", #"["a/b"]"#) == "{}")
            #expect(try await service.response(to: "documents.get", #"["a/b"]"#)["error"]?["code"]?.number == .integer(5))
        }
    }

    @Test
    func `A document is read with the time of what it shows, also if it does not exist`() async throws {
        try await withService { service in
            let written = try JSONText(await service.result(of: "documents.set", #"["a/b", {}]"#)).root["updateTime"]?.string
            let batch = try JSONText(await service.result(of: "documents.batchGet", #"{"paths": ["a/b"]}"#)).root
            let epoch = try #require(batch["epoch"]?.string)
            let found = try JSONText(await service.result(of: "documents.get", #"["a/b"]"#)).root
            #expect(found["path"]?.string == "a/b" && found["updateTime"]?.string == written)
            #expect(found["readTime"]?.string == written && found["epoch"]?.string == epoch)
            let missing = try await service.response(to: "documents.get", #"["a/c"]"#)["error"]
            #expect(missing?["code"]?.number == .integer(5))
            #expect(missing?["data"]?["readTime"]?.string == written && missing?["data"]?["epoch"]?.string == epoch)
            let time = "2024-01-02T03:04:05.000006Z"
            let options = #"{"path": "a/b", "readTime": "\#(time)"}"#
            let past = try await service.response(to: "documents.get", options)["error"]?["data"]
            #expect(past?["readTime"]?.string == time || past?["status"]?.string == "FAILED_PRECONDITION")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `A read does not wait for commits that are being applied`() async throws {
        let folder = try TemporaryFolder(in: TemporaryFolder.memory)
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        var configuration = FileStoreConfiguration(folder: folder["data"])
        configuration.segmentBytes = 256 << 10
        let store = try await FileStore.open(configuration, logger: logger)
        let context = ServiceContext(store: store)
        let path = try DocumentPath("a/b")
        let time = try await SetDocument.call(.set(path, ["x": .integer(1)]), in: context).updateTime
        store.components.feed.willApply(through: SequenceNumber(2))
        #expect(try await GetDocument.call(.init(path: path), in: context).position.time == time)
        let error = await #expect(throws: StatusError.self) {
            try await GetDocument.call(.init(path: DocumentPath("a/c")), in: context)
        }
        #expect(error?.readPosition?.time == time)
        await store.close()
    }

    @Test
    func `Typed calls need no JSON`() async throws {
        try await withService { service in
            let path = try DocumentPath("a/b")
            let result = try await SetDocument.call(.set(path, ["x": .integer(1)]), in: service.context)
            let document = try await GetDocument.document(.init(path: path), in: service.context)
            #expect(document.updateTime == result.updateTime)
            #expect(try document.decoded().fields == ["x": .integer(1)])
        }
    }
}
