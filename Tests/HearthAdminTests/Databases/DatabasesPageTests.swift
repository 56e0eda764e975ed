import DocumentModel
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Databases page", .timeLimit(.minutes(10)))
struct DatabasesPageTests {
    private static func databases(_ site: TestSite) async throws -> [String] {
        try await ListDatabases.call((), in: site.pages.context).map(\.description)
    }

    @Test
    func `A database is created by its form, and deleted after its name was typed`() async throws {
        try await TestSite.with(GuideData.writes(), hasBackups: true) { site in
            var page = try await site.page("/admin/databases")
            #expect(page.parseErrors == [])
            #expect(try page.texts("//tbody/tr/th") == ["hearth/(default) default"])
            #expect(try page.all("//tbody//a[contains(@class,'danger')]").isEmpty)
            #expect(try await site.page("/admin/").all("//main//a[@href='/admin/databases']").count == 1)
            let creation = try BrowserForm(page, "//form[@class='entry']").with(["name": " staging "])
            let created = await site.post("/admin/databases", creation.text)
            #expect(created.headers[.location] == "/admin/databases/hearth/staging/")
            // Sent again, as by a double click.
            let repeated = await site.post("/admin/databases", creation.text)
            #expect(repeated.status == .unprocessableContent)
            #expect(try HTMLPage(repeated.body).one("//*[@id='problems']//a")["href"] == "/admin/databases/hearth/staging/")
            #expect(try await Self.databases(site) == ["hearth/(default)", "hearth/staging"])
            page = try await site.page("/admin/databases")
            let url = try #require(try page.one("//tbody//a[contains(@class,'danger')]")["href"])
            #expect(try await site.page("/admin/databases/hearth/staging/settings").all("//a[@href='\(url)']").count == 1)
            #expect(try await site.page("/admin/settings").all("//a[contains(@href,'delete=')]").isEmpty)
            page = try await site.page(url)
            #expect(page.parseErrors == [])
            #expect(try page.one("//h1").text == "hearth/staging")
            #expect(try page.one("//title").text == "Delete · hearth/staging · Hearth")
            #expect(try page.one("//form[@class='entry']/p[1]").text == "The database contains 0 documents.")
            let form = try BrowserForm(page, "//form[@class='entry']")
            for name in ["", "stagin", "hearth/(default)", "other/staging"] {
                let refused = await site.post(url, form.with(["name": name]).text)
                #expect(refused.status == .unprocessableContent)
                let shown = try HTMLPage(refused.body)
                #expect(try shown.one("//input[@name='name']")["aria-invalid"] == "true")
                #expect(try shown.one("//input[@name='name']")["value"] == name)
                #expect(try shown.all("//*[@id='name-error']").count == 1)
            }
            #expect(try await Self.databases(site).count == 2)
            // Sent twice, as by a double click.
            for _ in 1...2 {
                let deleted = await site.post(url, form.with(["name": "staging"]).text)
                #expect(deleted.status == .seeOther)
                #expect(deleted.headers[.location] == "/admin/databases")
            }
            #expect(try await Self.databases(site) == ["hearth/(default)"])
            #expect(await site.get(url).status == .notFound)
        }
    }

    @Test(
        arguments: [
            ("", "#name"), ("a/b/c", "#name"), ("..", "#name"), (String(repeating: "x", count: 81), "#name"),
            ("(default)", "/admin/"), ("hearth/(default)", "/admin/"), ("taken", "/admin/databases/hearth/taken/"),
        ]
    )
    func `A name that cannot be used is named and marked, and kept`(name: String, url: String) async throws {
        try await TestSite.with(hasBackups: true) { site in
            let databases = try #require(site.pages.context.databases)
            try await databases.create(DatabaseID("taken", inProject: "hearth"))
            let response = await site.post("/admin/databases", "name=\(PercentEncoding.encode(UTF8Key(name)))")
            #expect(response.status == .unprocessableContent)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            let input = try page.one("//input[@id='name']")
            #expect(input["aria-invalid"] == "true")
            #expect(input["aria-describedby"]?.contains("name-error") ?? false)
            #expect(input["value"] == name)
            #expect(try page.one("//*[@id='problems']//a").text.contains("Name:"))
            #expect(try page.one("//*[@id='problems']//a")["href"] == url)
            #expect(try await Self.databases(site).count == 2)
        }
    }

    @Test
    func `Creating and deleting requires the admin role and the token of the form`() async throws {
        try await TestSite.with(hasBackups: true) { site in
            try await #require(site.pages.context.databases).create(DatabaseID("kept", inProject: "hearth"))
            let url = AdminURL.delete(try DatabaseID("kept", inProject: "hearth"))
            let admin = try site.keys.authenticate(Array(try await site.keys.create(.init(role: .admin)).text.utf8))
            for role in [Role.reader, .writer] {
                let caller = try site.keys.authenticate(Array(try await site.keys.create(.init(role: role)).text.utf8))
                let page = try HTMLPage(await site.get("/admin/databases", as: caller).body)
                #expect(try page.texts("//tbody/tr/th").count == 2)
                #expect(try page.all("//main//form").isEmpty)
                #expect(try page.all("//main//a[contains(@class,'danger')]").isEmpty)
                #expect(await site.post("/admin/databases", "name=new", as: caller).status == .forbidden)
                #expect(await site.get(url, as: caller).status == .forbidden)
                #expect(await site.post(url, "name=kept", as: caller).status == .forbidden)
            }
            for (address, form) in [("/admin/databases", "name=new"), (url, "name=kept")] {
                let parts = address.split(separator: "?")
                let response = await site.pages.response(
                    to: PageRequest(
                        method: .post,
                        path: String(parts[0]),
                        rawQuery: parts.count > 1 ? String(parts[1]) : nil,
                        principal: Principal(caller: admin),
                        form: Array(form.utf8)
                    )
                )
                #expect(response.status == .unprocessableContent)
                #expect(try HTMLPage(response.body).one("//*[@id='problems']").text.contains("submit it again"))
            }
            #expect(try await Self.databases(site) == ["hearth/(default)", "hearth/kept"])
        }
    }

    @Test
    func `The default database has no page that deletes it, and a server with one database no form`() async throws {
        try await TestSite.with(hasBackups: true) { site in
            #expect(await site.get(AdminURL.delete(.standard)).status == .notFound)
            #expect(await site.post(AdminURL.delete(.standard), "name=(default)").status != .seeOther)
            #expect(await site.get("/admin/databases/").headers[.location] == "/admin/databases")
        }
        try await TestSite.with { site in
            let page = try await site.page("/admin/databases")
            #expect(try page.texts("//tbody/tr/th") == ["hearth/(default) default"])
            #expect(try page.all("//main//form").isEmpty)
        }
    }
}
