import DocumentModel
import HTTPTypes
import HearthAPI
import StrictJSON
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Tree of collections")
struct CollectionTreeTests {
    private static func writes() throws -> [Write] {
        try GuideData.writes()
            + ["hitchhiker/reviews/r1", "hitchhiker/reviews/r1/replies/a", "hitchhiker/notes/n", "ghost/reviews/r2"]
            .map { .create(try DocumentPath("books/\($0)"), [:]) }
    }

    private func links(_ page: HTMLPage, _ expression: String) throws -> [String] {
        try page.all("//ul[@class='tree']\(expression)").map { $0["href"] ?? "" }
    }

    @Test
    func `The tree is open along the path of the page and collapsed elsewhere`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let page = try await site.page("/admin/data/books/hitchhiker/reviews/r1")
            #expect(page.parseErrors == [])
            #expect(
                try links(page, "/li/a")
                    == ["books", "colors", "locations", "programming-languages"].map { "/admin/data/\($0)" }
            )
            #expect(try links(page, "/li/details[@open]/ul/li/a") == ["/admin/data/books/hitchhiker/reviews"])
            #expect(
                try links(page, "/li/details/ul/li/details[@open]/ul/li/a")
                    == ["/admin/data/books/hitchhiker/reviews/r1/replies"]
            )
            #expect(try links(page, "//a[@aria-current]") == ["/admin/data/books/hitchhiker/reviews"])
            #expect(try links(page, "/li[2]/details[not(@open)]/p/a") == ["/admin/find?below=colors"])
        }
    }

    @Test
    func `The page of a collection shows the subcollections of its documents`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let page = try await site.page("/admin/data/books")
            let subcollections = ["ghost/reviews", "hitchhiker/notes", "hitchhiker/reviews"].map { "/admin/data/books/\($0)" }
            #expect(try links(page, "/li[1]/details[@open]/ul/li/a") == subcollections)
            #expect(try page.texts("//ul[@class='tree']/li[1]//ul/li[1]/a/bdi") == ["ghost", "reviews"])
            // All of them were found.
            #expect(try links(page, "/li[1]/details/p/a") == [])
            let colors = try await site.page("/admin/data/colors")
            #expect(try links(colors, "/li[2]/details") == [])
        }
    }

    @Test
    func `Subcollections are listed on a page, and as JSON for the tree`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let page = try await site.page("/admin/find?below=books")
            #expect(page.parseErrors == [])
            let listed = try page.all("//ul[@class='found']//a").map { $0["href"] ?? "" }
            #expect(listed == ["ghost/reviews", "hitchhiker/notes", "hitchhiker/reviews"].map { "/admin/data/books/\($0)" })
            let json = try JSONText(await site.get("/admin/find?below=books&suggest=1").body).root
            let nodes = try #require(json["nodes"]?.elements)
            #expect(nodes.map { $0["url"]?.string ?? "" } == listed)
            let labels = try #require(json["nodes"]?.elements?.first { _ in true }?["labels"]?.elements)
            #expect(labels.map { $0.string ?? "" } == ["ghost", "reviews"])
            let none = try JSONText(await site.get("/admin/find?below=colors&suggest=1").body).root
            #expect(none["note"]?.string == "No subcollections")
        }
    }

    @Test
    func `A search for subcollections continues after the documents that were examined`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let books = try CollectionPath("books")
            var found: [String] = []
            var previous: DocumentPath?
            for _ in 0..<20 {
                let scan = try await SubcollectionScan(below: books, after: previous, limit: 2, in: site.pages.context)
                for child in scan.children(of: books) where !found.contains(child.string) { found.append(child.string) }
                previous = scan.last
                if scan.isComplete { break }
            }
            #expect(previous == nil)
            #expect(found == ["books/ghost/reviews", "books/hitchhiker/notes", "books/hitchhiker/reviews"])
        }
    }

    @Test(arguments: ["below=a/b", "below=", "below=..", "below=books&after=x", "below=books&after=../x", "below=%00"])
    func `An invalid path is reported`(items: String) async throws {
        try await TestSite.with(Self.writes()) { site in
            let response = await site.get("/admin/find?\(items)")
            #expect(response.status == .badRequest)
        }
    }

    @Test
    func `A key for some collections sees no others`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let made = try await site.keys.create(.init(role: .reader, collections: [CollectionPath("books/hitchhiker/notes")]))
            let caller = try site.keys.authenticate(Array(made.text.utf8))
            let response = await site.get("/admin/find?below=books", as: caller)
            #expect(response.status == .forbidden)
            let page = try HTMLPage(await site.get("/admin/data/books/hitchhiker/notes", as: caller).body)
            #expect(page.source.contains("reviews") == false)
        }
    }
}
