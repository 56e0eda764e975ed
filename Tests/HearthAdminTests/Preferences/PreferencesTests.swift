import HTTPTypes
import Testing

@testable import HearthAdmin

@Suite("Preferences")
struct PreferencesTests {
    @Test(arguments: Language.allCases)
    func `Pages use the language that the browser requests`(language: Language) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.get("/admin/data/books", acceptLanguage: "\(language.rawValue)-XX, en;q=0.5")
            #expect(response.headers[.contentLanguage] == language.rawValue)
            #expect(response.headers[.vary] == "Accept-Language, Cookie")
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            let root = try page.one("/html")
            #expect(root["lang"] == language.rawValue)
            #expect(root["dir"] == (language == .persian ? "rtl" : "ltr"))
            #expect(try page.texts("//footer//button[@name='lang']") == Language.allCases.map(\.name))
            #expect(try page.one("//footer//button[@aria-current][@name='lang']")["value"] == language.rawValue)
        }
    }

    @Test
    func `The selected language takes precedence over the browser's`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.get("/admin/", acceptLanguage: "ru", cookies: ["theme=dark; a=b; lang=fa; lang=vi"])
            let root = try HTMLPage(response.body).one("/html")
            #expect(root["lang"] == "fa")
            #expect(root["data-theme"] == "dark")
            let other = await site.get("/admin/", acceptLanguage: "ru", cookies: ["lang=xx; theme=; fa; =; lang"])
            #expect(try HTMLPage(other.body).one("/html")["lang"] == "ru")
            #expect(try HTMLPage(other.body).one("/html")["data-theme"] == "auto")
        }
    }

    @Test
    func `A selection is stored in a cookie and redirects to the page`() async throws {
        try await TestSite.with { site in
            let page = try HTMLPage(await site.get("/admin/data/books?size=25&view=map").body)
            let next = try page.one("//footer//input[@name='next']")["value"]
            #expect(next == "/admin/data/books?size=25&view=map")
            let response = await site.send(
                "next=%2Fadmin%2Fdata%2Fbooks%3Fsize%3D25%26view%3Dmap&lang=fa&theme=light&size=1",
                to: "/admin/preferences"
            )
            #expect(response.status == .seeOther)
            #expect(response.headers[.location] == next)
            #expect(
                response.headers[values: .setCookie] == [
                    "lang=fa; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax",
                    "theme=light; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax",
                ]
            )
        }
    }

    @Test
    func `An invalid selection is not stored`() async throws {
        try await TestSite.with { site in
            let response = await site.send("next=/admin/&lang=fa%0D%0AX-A:+b&theme=", to: "/admin/preferences")
            #expect(response.headers[values: .setCookie] == [])
            #expect(await site.send("lang=%FF", to: "/admin/preferences").headers[values: .setCookie] == [])
            #expect(await site.get("/admin/preferences").status == .methodNotAllowed)
        }
    }

    @Test(
        arguments: [
            "//example.org/", "https://example.org/", "/%5Cexample.org", "%5C/example.org", "/%09/example.org", "%20/admin/",
            "admin/",
            "/admin/%0D%0ASet-Cookie:a=b", "/admin/%C3%A9", "",
        ]
    )
    func `A return URL on another host is ignored`(next: String) async throws {
        try await TestSite.with { site in
            let response = await site.send("next=\(next)&theme=dark", to: "/admin/preferences")
            #expect(response.headers[.location] == "/admin/")
        }
    }
}
