import DocumentModel
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("API keys page")
struct KeysPageTests {
    private func admin(_ site: TestSite) async throws -> Caller {
        try site.keys.authenticate(Array(try await site.keys.create(.init(role: .admin, label: "mine")).text.utf8))
    }

    @Test
    func `A new key is shown once to its creator`() async throws {
        try await TestSite.with { site in
            let caller = try await admin(site)
            let form = "label=%3Cb%3E&role=writer&lifetime=unlimited&collections=books%0D%0Aa/b/c%0D%0A"
            let response = await site.post("/admin/keys", form, as: caller)
            #expect(response.status == .seeOther)
            let address = try #require(response.headers[.location])
            let page = try HTMLPage(await site.get(address, as: caller).body)
            let text = try page.one("//pre[@id='key']").text
            let made = try site.keys.authenticate(Array(text.utf8))
            #expect(made.role == .writer)
            #expect(made.collections == [try CollectionPath("books"), try CollectionPath("a/b/c")])
            #expect(try page.texts("//tbody/tr[2]/td[1]") == ["<b>"])
            let again = try HTMLPage(await site.get(address, as: caller).body)
            #expect(try again.all("//pre[@id='key']").isEmpty)
        }
    }

    @Test(
        arguments: [("collections=a%2Fb", "collections"), ("role=admin&collections=a", "collections"), ("label=fsk_x", "label")]
    )
    func `Invalid input is reported beside its field`(form: String, field: String) async throws {
        try await TestSite.with { site in
            let caller = try await admin(site)
            let response = await site.post("/admin/keys", form, as: caller)
            #expect(response.status == .unprocessableContent)
            let page = try HTMLPage(response.body)
            #expect(try page.all("//*[@id='\(field)-error']").count == 1)
            #expect(site.keys.all.count == 1)
        }
    }

    @Test
    func `A key is revoked after a page that names it has asked`() async throws {
        try await TestSite.with { site in
            let caller = try await admin(site)
            let other = try await site.keys.create(.init(role: .reader, label: "robot")).key.id
            let response = await site.post("/admin/keys", "revoke=\(other)", as: caller)
            #expect(response.status == .ok)
            #expect(site.keys.all.count == 2)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            #expect(try page.one("//h1").text.contains("\(other)"))
            #expect(try page.texts("//dl[@class='server']//dd").contains("robot"))
            let form = try BrowserForm(page, "//form[@class='entry']").with(["revoke": "\(other)"])
            #expect(await site.post("/admin/keys", form.text, as: caller).status == .seeOther)
            #expect(site.keys.all.map(\.id) == [caller.keyID])
            #expect(await site.post("/admin/keys", form.text, as: caller).status == .unprocessableContent)
        }
    }

    @Test
    func `Revoking one's own key warns of the sign-out, and the last valid admin key cannot be revoked`() async throws {
        try await TestSite.with { site in
            let caller = try await admin(site)
            let id = try #require(caller.keyID)
            let expired = try await site.keys.create(
                .init(
                    role: .admin,
                    expireTime: Timestamp(rfc3339: "2026-01-02T05:04:05Z"),
                    now: Timestamp(rfc3339: "2026-01-02T00:00:00Z")
                )
            )
            for form in ["revoke=\(id)", "revoke=\(id)&confirmed=yes"] {
                let page = try HTMLPage(await site.post("/admin/keys", form, as: caller).body)
                #expect(try page.one("//*[@class='alert']").text.contains("last admin key"))
                #expect(try page.all("//button[@name='revoke']").isEmpty)
            }
            #expect(site.keys.all.map(\.id) == [id, expired.key.id])
            let second = try await site.keys.create(.init(role: .admin)).key.id
            let page = try HTMLPage(await site.post("/admin/keys", "revoke=\(id)", as: caller).body)
            #expect(try page.one("//*[@class='alert']").text.contains("signs you out"))
            #expect(await site.post("/admin/keys", "revoke=\(id)&confirmed=yes", as: caller).status == .seeOther)
            #expect(site.keys.all.map(\.id) == [expired.key.id, second])
        }
    }

    @Test
    func `The page requires the admin role; without keys it shows how to create the first one`() async throws {
        try await TestSite.with { site in
            let page = try await site.page("/admin/keys")
            #expect(try page.one("//*[@id='main']//pre").text.contains("hearth keys create --role admin"))
            for role in [Role.reader, .writer] {
                let caller = try site.keys.authenticate(Array(try await site.keys.create(.init(role: role)).text.utf8))
                #expect(await site.get("/admin/keys", as: caller).status == .forbidden)
                #expect(await site.post("/admin/keys", "role=admin", as: caller).status == .forbidden)
            }
        }
    }
}
