import DocumentModel
import DocumentStore
import StrictJSON
import Testing
import UTF8Text

extension StoreRequirement {
    /// The versions of documents.
    static let versions = [
        StoreRequirement("The versions of a document are listed newest first, with their authors") { store in
            let path = try DocumentPath("c/a")
            var times = [try await store.set("c/a", 1, by: "ann").commitTime]
            try await store.set("c/other", 5)
            times.append(try await store.set("c/a", 2, by: "bob").commitTime)
            times.append(try await store.delete("c/a").commitTime)
            times.append(try await store.set("c/a", 4).commitTime)
            let page = try await store.history(of: path, before: nil, limit: 10)
            #expect(page.versions.map(\.commitTime) == times.reversed())
            #expect(
                try page.versions.map { try $0.document?.decoded().fields["v"] } == [.integer(4), nil, .integer(2), .integer(1)]
            )
            #expect(page.versions.map(\.author) == [nil, nil, "bob", "ann"])
            #expect(page.next == nil)
            #expect(try await store.firstCommits(3, after: .zero).map(\.author) == ["ann", nil, "bob"])
        },
        StoreRequirement("The versions of a document are listed page by page") { store in
            for number in 1...7 { try await store.set("c/a", Int64(number)) }
            var found: [Value?] = []
            var before: Timestamp?
            repeat {
                let page = try await store.history(of: DocumentPath("c/a"), before: before, limit: 3)
                #expect(page.versions.count <= 3)
                found += try page.versions.map { try $0.document?.decoded().fields["v"] }
                before = page.next
            } while before != nil
            #expect(found == (1...7).reversed().map { .integer($0) })
            #expect(try await store.history(of: DocumentPath("c/none"), before: nil, limit: 3).versions.isEmpty)
        },
        StoreRequirement(
            "The versions of a document go back to the oldest retained commit or the version before it",
            history: .short
        ) {
            store in
            try await store.set("c/a", 1)
            try await store.set("c/a", 2)
            try await store.exceedHistory()
            try await store.set("c/a", 3)
            let versions = try await store.history(of: DocumentPath("c/a"), before: nil, limit: 10).versions
            let found = try versions.map { try $0.document?.decoded().fields["v"] }
            #expect([[.integer(3)], [.integer(3), .integer(2)]].contains(found))
        },
    ]
}
