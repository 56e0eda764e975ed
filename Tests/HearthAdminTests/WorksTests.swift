import DocumentModel
import DocumentStore
import HTTPTypes
import HearthService
import StrictJSON
import Testing

@testable import HearthAdmin

@Suite("What goes on at a time")
struct WorksTests {
    /// Begins works of a visitor that go on until `body` is over; gives why one could not be begun.
    private static func with(
        _ visitors: [Visitor],
        on site: TestSite,
        in database: DatabaseID? = nil,
        _ body: ([Works.Refusal?]) async throws -> Void
    ) async throws {
        var works: [Work] = []
        var refusals: [Works.Refusal?] = []
        let (waiting, go) = AsyncStream<Never>.makeStream()
        for (number, visitor) in visitors.enumerated() {
            let work = Work(
                .deleting,
                of: "books/<b>\(number)",
                in: database ?? site.pages.context.databaseName,
                id: UTF8Key("w\(number)"),
                for: visitor,
                backURL: "/admin/",
                at: .current()
            )
            do throws(Works.Refusal) {
                try site.pages.works.begin(work) { work throws(StatusError) in
                    work.update { $0.done = 1_234 }
                    for await _ in waiting {}
                }
                works.append(work)
                refusals.append(nil)
            } catch {
                refusals.append(error)
            }
        }
        try await body(refusals)
        go.finish()
        for work in works { await work.wait(atMost: .seconds(600)) }
    }

    private static func visitor(_ network: UTF8Key) -> Visitor { Visitor(caller: .anybody, network: network) }

    @Test("No more than two are of one owner, and no more than four of all")
    func shares() async throws {
        let visitors: [UTF8Key] = ["a", "a", "a", "b", "b", "b", "c"]
        try await TestSite.with { site in
            try await Self.with(visitors.map(Self.visitor), on: site) { refusals in
                #expect(refusals == [nil, nil, .ownerIsFull, nil, nil, .ownerIsFull, .full])
            }
        }
    }

    @Test("What can't be begun is shown again, with what was typed and the way to what is under way")
    func refused() async throws {
        try await TestSite.with([.create(DocumentPath("a/b"), [:])]) { site in
            let form = try SentForm(await site.page("/admin/data/a?delete"), "//form[@class='entry']").with(["name": "a"])
            try await Self.with([Visitor(caller: .anybody), Visitor(caller: .anybody)], on: site) { _ in
                let response = await site.post("/admin/data/a?delete", form.text)
                #expect(response.status == .tooManyRequests)
                let page = try HTMLPage(response.body)
                #expect(page.complaints == [])
                #expect(try page.one("//*[@id='problems']//a")["href"] == "/admin/work")
                #expect(try page.one("//*[@id='problems']").text.contains("as one may have at a time: 2."))
                #expect(try page.one("//input[@id='name']")["value"] == "a")
                #expect(try await site.store.document(at: DocumentPath("a/b")) != nil)
            }
        }
    }

    @Test("The list has what is under way, each with the way to its page, for those who may see it")
    func list() async throws {
        try await TestSite.with { site in
            #expect(try await site.page("/admin/work").all("//p[@class='empty']").count == 1)
            #expect(await site.get("/admin/work/").headers[.location] == "/admin/work")
            try await Self.with([Visitor(caller: .anybody), Visitor(caller: .program)], on: site) { _ in
                var page = try await site.page("/admin/work")
                while try !page.texts("//tbody/tr/td[1]").allSatisfy({ $0 == "1,234 documents deleted" }) {
                    page = try await site.page("/admin/work")
                }
                #expect(page.complaints == [])
                #expect(try page.all("//tbody//th/a").map { $0["href"] } == ["/admin/work/w1", "/admin/work/w0"])
                #expect(try page.texts("//tbody//th/a") == ["Deleting · books/<b>1", "Deleting · books/<b>0"])
                #expect(try page.all("//*[@data-reloads]").count == 1)
                let note = try #require(page.texts("//p[@class='note']").last)
                #expect(note.hasPrefix("At most 4 may be under way at a time, at most 2 of them yours."))
                let own = try await site.page("/admin/work/w1")
                #expect(own.complaints == [])
                #expect(try own.one("//h1").text == "Deleting · books/<b>1")
            }
        }
    }

    @Test("What is done in another database is on that database's pages only; the list leads there while it is under way")
    func databases() async throws {
        try await TestSite.with { site in
            let other = try DatabaseID(project: "hearth", database: "other")
            try await Self.with([Visitor(caller: .anybody)], on: site, in: other) { _ in
                let page = try await site.page("/admin/work")
                #expect(page.complaints == [])
                #expect(try page.all("//tbody/tr").isEmpty)
                #expect(
                    try page.all("//section[@aria-labelledby='elsewhere']//a").map { $0["href"] } == [
                        AdminURL.works(in: other)
                    ]
                )
                #expect(await site.get("/admin/work/w0").status == .notFound)
                let works = site.pages.works
                #expect(works.works(for: .anybody, in: other).map(\.id) == ["w0"])
                #expect(works.busyDatabases(for: .anybody, besides: other).isEmpty)
                #expect(await site.post("/admin/work/w0", "").status == .notFound)
            }
            #expect(try await site.page("/admin/work").all("//section[@aria-labelledby='elsewhere']").isEmpty)
        }
    }
}
