import DocumentModel
import DocumentStore
import HearthAPI
import StrictJSON
import Testing
import UTF8Text

@Suite("documents.batchWrite") struct BatchWriteTests {
    @Test
    func `Each write has its own result or error, in order`() async throws {
        try await withService { service in
            try await service.result(of: "documents.set", #"["a/here", {"n": 1}]"#)
            let writes = #"""
                [
                    {"set": {"path": "a/new", "fields": {}, "transforms": [{"field": "n", "increment": 2}]}},
                    {"update": {"path": "a/missing", "fields": {"x": 1}}},
                    {"set": {"path": "a/here", "fields": {}, "precondition": {"exists": false}}},
                    {"delete": {"path": "a/nothing"}}
                ]
                """#
            let results = try #require(
                try JSONText(await service.result(of: "documents.batchWrite", #"{"writes": \#(writes)}"#)).root["writeResults"]
            )
            let elements = try #require(results.elements.map(Array.init))
            #expect(elements.count == 4)
            #expect(elements[0]["transformResults"].map { String(decoding: $0.rawBytes, as: UTF8.self) } == "[2]")
            #expect(elements[1]["error"]?["code"]?.number == .integer(5))
            #expect(elements[1]["error"]?["data"]?["path"]?.string == "a/missing")
            #expect(elements[1]["error"]?["data"]?["write"] == nil)
            #expect(elements[2]["error"]?["code"]?.number == .integer(6))
            #expect(String(decoding: elements[3].rawBytes, as: UTF8.self) == "{}")
            #expect(try await service.member("fields", of: "documents.get", #"["a/here"]"#) == #"{"n":1}"#)
            #expect(try await service.member("fields", of: "documents.get", #"["a/new"]"#) == #"{"n":2}"#)
        }
    }

    @Test
    func `Two writes to one document are rejected, and nothing is written`() async throws {
        try await withService { service in
            let set = #"{"set": {"path": "a/b", "fields": {}}}"#
            let writes = #"[{"set": {"path": "a/c", "fields": {}}}, \#(set), {"delete": {"path": "a/b"}}]"#
            let error = try await service.response(to: "documents.batchWrite", #"{"writes": \#(writes)}"#)["error"]
            #expect(error?["code"]?.number == .integer(3))
            #expect(error?["data"]?["path"]?.string == "a/b")
            #expect(error?["data"]?["parameter"]?.string == "params.writes[2]")
            #expect(try await service.result(of: "documents.list", #"["a"]"#) == #"{"documents":[]}"#)
        }
    }

    @Test
    func `Each of many writes is a separate commit`() async throws {
        try await withService { service in
            let writes = try (0..<1_000).map { try Write.set(DocumentPath("a/\($0)"), ["n": .integer($0)]) }
            let outcomes = try await BatchWrite.call(writes, in: service.context)
            var times: Set<Timestamp> = []
            for outcome in outcomes { times.insert(try #require(try outcome.get().updateTime)) }
            #expect(times.count == writes.count)
            #expect(service.context.store.position.lastSequence == SequenceNumber(1_000))
        }
    }

    @Test
    func `After cancellation, each write is either applied or reported as cancelled`() async throws {
        try await withService { service in
            let writes = try (0..<500).map { try Write.set(DocumentPath("a/\($0)"), ["n": .integer($0)]) }
            let task = Task { try await BatchWrite.call(writes, in: service.context) }
            task.cancel()
            let outcomes = try await task.value
            #expect(outcomes.count == writes.count)
            for (write, outcome) in zip(writes, outcomes) {
                let document = try await service.context.store.document(at: write.path)
                switch outcome {
                case .success(let result): #expect(document?.updateTime == result.updateTime)
                case .failure(let error):
                    #expect(error.code == .cancelled)
                    #expect(document == nil)
                }
            }
        }
    }
}
