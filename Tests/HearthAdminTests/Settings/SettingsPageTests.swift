import DocumentModel
import DocumentStore
import FileStore
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Settings page")
struct SettingsPageTests {
    @Test
    func `Composite indexes and exemptions can be created and deleted`() async throws {
        try await TestSite.with { site in
            let form = "do=create&collection=books&fields=author%0D%0A%60a%20b%60+desc%0D%0A"
            #expect(await site.post("/admin/settings", form).status == .seeOther)
            let report = await site.store.indexes()
            #expect(
                report.indexes.map { $0.definition.fields.map { "\($0.field) \($0.direction)" } } == [
                    ["author ascending", "`a b` descending"]
                ]
            )
            let id = try #require(report.indexes.first?.id)
            let question = await site.post("/admin/settings", "do=delete&id=\(id)")
            #expect(question.status == .ok)
            #expect(await site.store.indexes().indexes.count == 1)
            let removal = try BrowserForm(HTMLPage(question.body), "//main//form").with(["do": "delete"])
            #expect(await site.post("/admin/settings", removal.text).status == .seeOther)
            #expect(await site.store.indexes().indexes.isEmpty)
            #expect(await site.post("/admin/settings", "do=exempt&collection=books&fields=blurb").status == .seeOther)
            let exemption = try BrowserForm(await site.page("/admin/settings"), "//form[.//button[@value='unexempt']]")
            #expect(await site.post("/admin/settings", exemption.with(["do": "unexempt"]).text).status == .seeOther)
            #expect(await site.store.indexes().exemptions.isEmpty)
        }
    }

    @Test
    func `The progress of index updates says what is updated`() async throws {
        try await TestSite.with { site in
            var report = IndexReport()
            report.backfills = [(try CollectionID("people"), .building(documents: 0))]
            let request = AdminRequest(
                PageRequest(method: .get, path: "/admin/settings"),
                context: site.pages.context,
                environment: site.pages.environment,
                secret: TestSite.csrfSecret
            )
            let response = await request.respond(with: SettingsPage(indexes: report, sessions: [], limits: []))
            let notes = try HTMLPage(response.body).texts("//section[@aria-labelledby='exemptions']/p[@class='note']")
            #expect(notes == ["Updating the indexes of people: starting"])
        }
    }

    @Test(
        arguments: [
            "do=create&collection=books&fields=one", "do=create&collection=a%2Fb&fields=x%0Ay",
            "do=exempt&collection=books&fields=a..b",
        ]
    )
    func `Invalid input is reported and kept`(form: String) async throws {
        try await TestSite.with { site in
            let response = await site.post("/admin/settings", form)
            #expect(response.status == .unprocessableContent)
            let page = try HTMLPage(response.body)
            #expect(try page.all("//*[@id='fields-error']").count == 1)
        }
    }

    @Test
    func `A writer cannot change indexes and sees only its own sessions`() async throws {
        try await TestSite.with { site in
            let text = try await site.keys.create(.init(role: .writer)).text
            _ = try await site.keys.create(.init(role: .admin))
            let caller = try site.keys.authenticate(Array(text.utf8))
            #expect(await site.post("/admin/settings", "do=exempt&collection=books&fields=a", as: caller).status == .forbidden)
            let session = try await site.pages.context.sessions.start(
                with: Array(text.utf8),
                from: "127.0.0.1",
                isSecure: false,
                failures: FailedAttemptLimiter(limit: 10)
            ).session
            let page = try HTMLPage(await site.get("/admin/settings", as: caller).body)
            #expect(try page.all("//button[@name='end']").map { $0["value"] } == [session.name.string])
            #expect(await site.post("/admin/settings", "end=\(session.name)", as: caller).status == .seeOther)
            #expect(site.pages.context.sessions.visible(to: caller).isEmpty)
        }
    }
}
