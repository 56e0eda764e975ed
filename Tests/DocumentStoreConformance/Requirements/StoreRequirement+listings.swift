import DocumentModel
import DocumentStore
import StrictJSON
import Testing

extension StoreRequirement {
    /// Listings of documents and collections.
    static let listings = [
        StoreRequirement("Documents are listed in ID order, page by page") { store in
            let ids = ["__id7__", "__id10__", "A", "a", "a.b", "e\u{301}", "é", "日本", "😀"]
            _ = try await store.commit(
                ids.shuffled().map { try .set(DocumentPath("c/\($0)"), [:]) } + [.set(DocumentPath("c/A/d/x"), [:])]
            )
            for limit in [1, 2, 100] {
                #expect(try await store.list("c", limit: limit) == ids.map { "c/\($0)" }, "limit \(limit)")
            }
            #expect(try await store.list("none").isEmpty)
            #expect(try await store.list("c/A/d") == ["c/A/d/x"])
        },
        StoreRequirement("Documents that do not exist but have subcollections are listed on request") { store in
            _ = try await store.commit(["c/b", "c/a/s/1", "c/b/s/1", "c/d/s/1/t/2"].map { try .set(DocumentPath($0), [:]) })
            let time = try await store.lastCommitTime
            for limit in [1, 100] {
                #expect(try await store.list("c", limit: limit, includingMissing: true) == ["c/a?", "c/b", "c/d?"])
                #expect(try await store.list("c", limit: limit) == ["c/b"])
            }
            _ = try await store.commit(["c/b", "c/d/s/1/t/2"].map { try .delete(DocumentPath($0)) })
            #expect(try await store.list("c", includingMissing: true) == ["c/a?", "c/b?"])
            #expect(try await store.list("c", includingMissing: true, at: time) == ["c/a?", "c/b", "c/d?"])
        },
        StoreRequirement("A collection exists while a document exists in it or below it") { store in
            _ = try await store.commit(["b/1", "a/1/x/1/y/1", "c/1", "c/1/z/1"].map { try .set(DocumentPath($0), [:]) })
            let time = try await store.lastCommitTime
            for limit in [1, 2, 100] {
                #expect(try await store.listCollections(limit: limit) == ["a", "b", "c"])
                #expect(try await store.listCollections(under: "a/1", limit: limit) == ["x"])
            }
            _ = try await store.commit(["a/1/x/1/y/1", "c/1"].map { try .delete(DocumentPath($0)) })
            #expect(try await store.listCollections() == ["b", "c"])
            #expect(try await store.listCollections(under: "a/1").isEmpty)
            #expect(try await store.listCollections(at: time) == ["a", "b", "c"])
            #expect(try await store.listCollections(under: "a/1/x/1", at: time) == ["y"])
        },
        StoreRequirement("Listings as of a time show what existed then") { store in
            _ = try await store.commit((1...9).map { try .set(DocumentPath("c/\($0)"), [:]) })
            let time = try await store.lastCommitTime
            _ = try await store.commit((1...5).map { try .delete(DocumentPath("c/\($0)")) } + [.set(DocumentPath("c/20"), [:])])
            for limit in [1, 3, 100] { #expect(try await store.list("c", limit: limit, at: time) == (1...9).map { "c/\($0)" }) }
            #expect(try await store.list("c") == ["c/20", "c/6", "c/7", "c/8", "c/9"])
        },
    ]
}
