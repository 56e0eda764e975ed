import DocumentModel
import DocumentStore
import HearthService
import StrictJSON
import Testing

/// `changes.poll`, for clients without streams.
@Suite(.timeLimit(.minutes(1))) struct PollTests {
    private func poll(_ service: TemporaryService, _ members: String) async throws -> JSONNode {
        try JSONText(try await service.result(of: "changes.poll", #"{"collection": "c"\#(members)}"#)).root
    }

    private func told(_ answer: JSONNode) -> [String] {
        (answer["changes"]?.elements.map(Array.init) ?? []).map { change in
            let path = change["path"]?.string ?? change["document"]?["path"]?.string ?? "?"
            return "\(change["type"]?.string ?? "?") \(path)"
        }
    }

    @Test("Each poll tells what has changed since the one before, commits undivided")
    func following() async throws {
        try await withService { service in
            var answer = try await poll(service, "")
            #expect(told(answer) == [])
            for id in ["a", "b"] { try await service.result(of: "documents.set", #"{"path": "c/\#(id)", "fields": {}}"#) }
            try await service.result(
                of: "documents.commit",
                #"{"writes": [{"delete": {"path": "c/a"}}, {"set": {"path": "c/d", "fields": {}}}, {"set": {"path": "x/y", "fields": {}}}]}"#
            )
            var all: [String] = []
            var counts: [Int] = []
            repeat {
                answer = try await poll(service, #", "limit": 1, "resume": "\#(try #require(answer["token"]?.string))""#)
                all += told(answer)
                counts.append(told(answer).count)
            } while answer["more"]?.boolean == true
            #expect(all == ["added c/a", "added c/b", "deleted c/a", "added c/d"])
            #expect(counts.starts(with: [1, 1, 2]))
            answer = try await poll(service, #", "resume": "\#(try #require(answer["token"]?.string))""#)
            #expect(told(answer) == [])
        }
    }

    @Test("A poll that waits is answered by the next change, or with nothing when its time is over")
    func waiting() async throws {
        let store = MemoryStore()
        try await withMemoryService(store) { service in
            let token = try #require(try await poll(service, "")["token"]?.string)
            async let answer = poll(service, #", "resume": "\#(token)", "waitMs": 30000"#)
            while store.waiterCount == 0 { await Task.yield() }
            try store.set("other/x", 1)
            try store.set("c/a", 1)
            #expect(told(try await answer) == ["added c/a"])
            let empty = try await poll(
                service,
                #", "resume": "\#(try #require(try await answer["token"]?.string))", "waitMs": 20"#
            )
            #expect(told(empty) == [])
            #expect(empty["token"]?.string != nil)
        }
    }

    @Test("What is no longer kept, or was never so, is said")
    func expired() async throws {
        let store = MemoryStore()
        try await withMemoryService(store) { service in
            let token = try #require(try await poll(service, "")["token"]?.string)
            for version in 1...3 as ClosedRange<Int64> { try store.set("c/a", version) }
            store.forget(keeping: 1)
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
