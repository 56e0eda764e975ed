import DocumentModel
import StrictJSON
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("The history of a document names the key of each version")
struct CommitAuthorTests {
    /// Calls that write `c/d`; one commits a transaction.
    private static let calls: [(method: String, params: String)] = [
        ("documents.set", #"{"path": "c/d", "fields": {"n": 1}}"#),
        ("documents.update", #"{"path": "c/d", "fields": {"n": 2}}"#),
        ("documents.commit", #"{"writes": [{"set": {"path": "c/d", "fields": {"n": 3}}}]}"#),
        ("documents.commit", #"{"writes": [{"set": {"path": "c/d", "fields": {"n": 4}}}], "transaction": TRANSACTION}"#),
        ("documents.batchWrite", #"{"writes": [{"set": {"path": "c/d", "fields": {"n": 5}}}]}"#),
        ("documents.delete", #"{"path": "c/d"}"#),
        ("documents.create", #"{"collection": "c", "id": "d", "fields": {"n": 6}}"#),
    ]

    @Test(arguments: [nil, "c"])
    func `All writing methods record the author`(collection: String?) async throws {
        try await withService { service in
            let collections = try collection.map { [try CollectionPath($0)] }
            let (key, text) = try await service.context.keys.create(.init(role: .writer, collections: collections))
            let called = service.withCaller(try service.context.keys.authenticate(Array(text.utf8)))
            for (method, params) in Self.calls {
                var params = params
                if params.contains("TRANSACTION") {
                    let begun = try JSONText(await called.result(of: "transactions.begin", "{}")).root
                    let id = try #require(begun["transaction"]?.string)
                    params = params.replacing("TRANSACTION", with: "\"\(id)\"")
                }
                try await called.result(of: method, params)
            }
            try await service.result(of: "documents.set", #"{"path": "c/d", "fields": {"n": 7}}"#)
            let history = try JSONText(await service.result(of: "documents.history", #"{"path": "c/d"}"#)).root
            let authors = history["versions"]?.elements?.map { $0["author"]?.string }
            #expect(authors == [nil] + Self.calls.map { _ in key.id.string })
        }
    }
}
