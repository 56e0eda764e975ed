import DocumentModel
import DocumentStore
import DocumentStoreConformance
import HearthAPI
import StrictJSON
import Testing
import UTF8Text

@Suite("changes.poll", .timeLimit(.minutes(10))) struct PollChangesTests {
    private func poll(_ service: TemporaryService, _ members: String) async throws -> JSONNode {
        try JSONText(try await service.result(of: "changes.poll", #"{"collection": "c"\#(members)}"#)).root
    }

    private func changes(in result: JSONNode) -> [String] {
        (result["changes"]?.elements.map(Array.init) ?? []).map { change in
            let path = change["path"]?.string ?? change["document"]?["path"]?.string ?? "?"
            return "\(change["type"]?.string ?? "?") \(path)"
        }
    }

    @Test
    func `Each poll returns the changes since the previous one, in whole commits`() async throws {
        try await withService { service in
            var result = try await poll(service, "")
            #expect(changes(in: result) == [])
            for id in ["a", "b"] { try await service.result(of: "documents.set", #"{"path": "c/\#(id)", "fields": {}}"#) }
            try await service.result(
                of: "documents.commit",
                #"{"writes": [{"delete": {"path": "c/a"}}, {"set": {"path": "c/d", "fields": {}}}, {"set": {"path": "x/y", "fields": {}}}]}"#
            )
            var all: [String] = []
            var counts: [Int] = []
            repeat {
                result = try await poll(service, #", "limit": 1, "resume": "\#(try #require(result["token"]?.string))""#)
                all += changes(in: result)
                counts.append(changes(in: result).count)
            } while result["more"]?.boolean == true
            #expect(all == ["added c/a", "added c/b", "deleted c/a", "added c/d"])
            #expect(counts.starts(with: [1, 1, 2]))
            result = try await poll(service, #", "resume": "\#(try #require(result["token"]?.string))""#)
            #expect(changes(in: result) == [])
        }
    }

    @Test
    func `A waiting poll returns at the next change, or empty after its timeout`() async throws {
        let store = MemoryStore()
        try await withMemoryService(store) { service in
            let token = try #require(try await poll(service, "")["token"]?.string)
            async let result = poll(service, #", "resume": "\#(token)", "waitMs": 30000"#)
            while store.notificationCount == 0 { await Task.yield() }
            try store.set("other/x", 1)
            try store.set("c/a", 1)
            #expect(changes(in: try await result) == ["added c/a"])
            let empty = try await poll(
                service,
                #", "resume": "\#(try #require(try await result["token"]?.string))", "waitMs": 20"#
            )
            #expect(changes(in: empty) == [])
            #expect(empty["token"]?.string != nil)
        }
    }

    @Test
    func `Expired and invalid tokens are rejected`() async throws {
        let store = MemoryStore()
        try await withMemoryService(store) { service in
            let token = try #require(try await poll(service, "")["token"]?.string)
            for version in 1...3 as ClosedRange<Int64> { try store.set("c/a", version) }
            store.discardHistory(keeping: 1)
            for (members, code) in [
                (#", "resume": "\#(token)""#, 11), (#", "resume": "junk""#, -32602), (#", "waitMs": -1"#, -32602),
                (#", "limit": 0"#, -32602),
            ] {
                let response = try await service.response(to: "changes.poll", #"{"collection": "c"\#(members)}"#)
                #expect(response["error"]?["code"]?.number == .integer(Int64(code)), "\(members)")
                #expect(response["error"]?["data"]?["oldest"]?.number == (code == 11 ? .integer(3) : nil), "\(members)")
            }
            let other = try await service.response(to: "changes.poll", #"{"collection": "d", "resume": "\#(token)"}"#)
            #expect(other["error"]?["code"]?.number == .integer(3))
        }
    }
}
