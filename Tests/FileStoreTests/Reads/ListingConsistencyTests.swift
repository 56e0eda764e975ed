import DocumentModel
import DocumentStore
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Listings during commits")
struct ListingConsistencyTests {
    @Test(arguments: [2, 30])
    func `A page shows all documents of a commit or none`(writeCount: Int) async throws {
        try await StoreFixture().withStore { store throws in
            for start in stride(from: 0, to: 400, by: 100) {
                _ = try await store.commit(
                    (start..<start + 100).map { try .set(DocumentPath("c/d\(1000 + $0)"), ["v": .integer(0)]) }
                )
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    // Documents far apart in the page.
                    let ids = (0..<writeCount).map { 1000 + $0 * 399 / (writeCount - 1) }
                    var version: Int64 = 0
                    while !Task.isCancelled {
                        version += 1
                        _ = try await store.commit(
                            ids.map { try .set(DocumentPath("c/d\($0)"), ["v": .integer(version)]) }
                        )
                    }
                }
                for _ in 0..<20 {
                    let page = try await store.list("c", limit: 1_000)
                    let versions = try [page.documents.first, page.documents.last].map { entry -> Value? in
                        guard case .document(let document)? = entry else { return nil }
                        return try document.decoded().fields["v"]
                    }
                    #expect(page.documents.count == 400 && versions[0] == versions[1])
                }
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }
}
