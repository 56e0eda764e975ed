import DocumentModel
import DocumentStore
import Foundation
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Edit conflicts")
struct ConflictTests {
    private static let address = "/admin/data/books/b?edit"
    private static let before: MapValue = [
        "title": .string("Guide"), "pages": .integer(816), "in": .map(["a": .integer(1), "b": .integer(1)]), "same": .null,
    ]

    private func path() throws -> DocumentPath { try DocumentPath("books/b") }

    /// Opens the editor, performs a concurrent change, saves changes of `title` and `in.b`, and returns the response.
    private func conflict(
        on site: TestSite,
        _ concurrentChange: (TestSite) async throws -> Void
    ) async throws -> (response: PageResponse, page: HTMLPage) {
        let form = try BrowserForm(await site.page(Self.address))
        try await concurrentChange(site)
        // The rows are in, a, b, pages, same, title.
        let response = await site.post(Self.address, form.with(["r5-value": "Mine", "r2-value": "2", "do": "save"]).text)
        return (response, try HTMLPage(response.body))
    }

    private func fields(_ site: TestSite) async throws -> MapValue? {
        try await site.store.document(at: try path())?.decoded().fields
    }

    @Test
    func `The conflict page shows three values per field and preselects fields that only one side has changed`() async throws {
        try await TestSite.with([.create(path(), Self.before)]) { site in
            var theirs = Self.before
            theirs["title"] = .string("Theirs")
            theirs["pages"] = .integer(817)
            let (response, page) = try await conflict(on: site) { site in
                _ = try await site.store.commit([.set(try path(), theirs)])
            }
            #expect(response.status == .conflict)
            #expect(try page.texts("//tbody/tr/th/span[@class='name']") == ["in.b", "pages", "title"])
            #expect(try page.texts("//tbody/tr[3]/td") == ["Guide", " Theirs", " Mine"])
            #expect(try page.all("//input[@checked]").map { $0["id"] } == ["c0-yours", "c1-theirs"])
            #expect(try await fields(site) == theirs)
            let form = try BrowserForm(page)
            let incomplete = await site.post(Self.address, form.text)
            #expect(incomplete.status == .conflict)
            #expect(try HTMLPage(incomplete.body).one("//*[@id='problems']//a")["href"] == "#c2-yours")
            let done = await site.post(Self.address, form.with(["c2": "yours"]).text)
            #expect(done.status == .seeOther)
            #expect(
                try await fields(site) == [
                    "title": .string("Mine"), "pages": .integer(817), "in": .map(["a": .integer(1), "b": .integer(2)]),
                    "same": .null,
                ]
            )
        }
    }

    @Test
    func `A change after the conflict page was shown causes another conflict page`() async throws {
        try await TestSite.with([.create(path(), Self.before)]) { site in
            let (_, page) = try await conflict(on: site) { site in
                _ = try await site.store.commit([.set(try path(), ["title": .string("Second")])])
            }
            let form = try BrowserForm(page).with(["c0": "yours", "c1": "yours", "c2": "yours", "c3": "yours"])
            _ = try await site.store.commit([.set(try path(), ["title": .string("Third")])])
            let response = await site.post(Self.address, form.text)
            #expect(response.status == .conflict)
            #expect(try HTMLPage(response.body).one("//*[@id='main']").text.contains("Third"))
            #expect(try await fields(site) == ["title": .string("Third")])
        }
    }

    @Test
    func `A document that was deleted during the edit can be recreated with the changes`() async throws {
        try await TestSite.with([.create(path(), Self.before)]) { site in
            let (response, page) = try await conflict(on: site) { site in _ = try await site.store.commit([.delete(try path())]) }
            #expect(response.status == .conflict)
            #expect(try page.one("//h2[@id='conflict']").text == "This document was deleted while you edited it")
            #expect(await site.post(Self.address, try BrowserForm(page).text).status == .seeOther)
            #expect(try await fields(site)?["title"] == .string("Mine"))
        }
    }

    @Test
    func `An edit of the file by hand causes a conflict`() async throws {
        try await TestSite.with([.create(path(), Self.before)]) { site in
            let (response, page) = try await conflict(on: site) { site in
                let file = site.folder.appending(path: "documents/books/b.json")
                let text = try String(contentsOf: file, encoding: .utf8)
                try Data(text.replacing("816", with: "815").utf8).write(to: file)
            }
            #expect(response.status == .conflict)
            #expect(try page.one("//*[@id='main']").text.contains("815"))
        }
    }

    @Test
    func `The merge compares maps recursively and arrays as a whole`() throws {
        let merge = ThreeWayMerge(
            base: ["a": .map(["x": .integer(1), "y": .integer(1)]), "l": .array([.integer(1)]), "d": .null],
            theirs: ["a": .map(["x": .integer(2), "y": .integer(1)]), "l": .array([.integer(1), .integer(2)]), "d": .null],
            yours: ["a": .map(["x": .integer(1), "y": .integer(3)]), "l": .array([.integer(0)]), "n": .integer(4)]
        )
        #expect(merge.differences.map(\.path) == [["a", "x"], ["a", "y"], ["d"], ["l"], ["n"]])
        #expect(merge.differences.map(\.changedBy) == [.theirs, .yours, .yours, nil, .yours])
        let merged = try merge.merged(choosing: [.theirs, .yours, .yours, .theirs, .yours])
        #expect(
            merged == [
                "a": .map(["x": .integer(2), "y": .integer(3)]), "l": .array([.integer(1), .integer(2)]), "n": .integer(4),
            ]
        )
    }
}
