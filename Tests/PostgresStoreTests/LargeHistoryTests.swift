import DocumentModel
import DocumentStore
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@testable import PostgresStore

@Suite("Histories of large documents", EngineServer.condition)
struct LargeHistoryTests {
    @Test
    func `A page of a history has few large versions, and the next pages have the others`() async throws {
        try await EngineServer.shared.value.withHosts { hosts in
            let store = hosts[0].store
            let path = try DocumentPath("c/large")
            for number in 0..<12 {
                let text = String(repeating: "x", count: 1_000_000)
                _ = try await store.commit([.set(path, ["text": .string(text), "n": .integer(Int64(number))])])
            }
            var numbers: [Value] = []
            var (before, pageCount) = (Timestamp?.none, 0)
            repeat {
                let page = try await store.history(of: path, before: before, limit: 100)
                #expect(page.versions.count <= 5)
                numbers += try page.versions.compactMap { try $0.document?.decoded().fields["n"] }
                before = page.next
                pageCount += 1
            } while before != nil
            #expect(numbers == (0..<12).reversed().map { .integer($0) })
            #expect(pageCount == 3)
        }
    }
}
