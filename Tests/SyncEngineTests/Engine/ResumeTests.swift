import DocumentModel
import SyncEngine
import Testing
import UTF8Text

@Suite("Resuming targets")
struct ResumeTests {
    private let path = DocumentPath.inC("a")
    private var client = TestClient()

    private func token() throws -> String? {
        try client.engine.cache.target(ViewQuery().target)?.token
    }

    @Test
    mutating func `The token of a target without changes is saved every five minutes`() throws {
        let minute: Int64 = 60_000_000
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(to: listener, at: minute)
        #expect(try token() == "token \(minute)")
        for number in 2...5 {
            try client.deliver(to: listener, at: Int64(number) * minute)
            #expect(try token() == "token \(minute)")
        }
        try client.deliver(to: listener, at: 6 * minute)
        #expect(try token() == "token \(6 * minute)")
    }

    @Test
    mutating func `The end of the engine saves the tokens`() throws {
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(to: listener, at: 100)
        try client.deliver(to: listener, at: 200)
        try client.restart()
        #expect(try token() == "token 200")
    }

    @Test
    mutating func `An eager cache is empty after the end of the engine`() throws {
        client = TestClient(isEager: true)
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: listener, at: 100)
        try client.restart()
        #expect(try token() == nil)
        #expect(client.engine.cache.byteCount == 0)
    }
}
