import HTTPTypes
import Testing

@testable import HearthAdmin

@Suite("Languages and colours of pages")
struct PreferencesTests {
    @Test("A page speaks the language that the browser asks for", arguments: Language.allCases)
    func negotiated(language: Language) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.get("/admin/data/books", acceptedLanguages: "\(language.rawValue)-XX, en;q=0.5")
            #expect(response.headers[.contentLanguage] == language.rawValue)
            #expect(response.headers[.vary] == "Accept-Language, Cookie")
            let page = try HTMLPage(response.body)
            #expect(page.complaints == [])
            let root = try page.one("/html")
            #expect(root["lang"] == language.rawValue)
            #expect(root["dir"] == (language == .persian ? "rtl" : "ltr"))
            #expect(try page.texts("//footer//button[@name='lang']") == Language.allCases.map(\.name))
            #expect(try page.one("//footer//button[@aria-current][@name='lang']")["value"] == language.rawValue)
        }
    }

    @Test("What the reader chose counts more than what the browser asks for")
    func chosen() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.get("/admin/", acceptedLanguages: "ru", cookies: ["theme=dark; a=b; lang=fa; lang=vi"])
            let root = try HTMLPage(response.body).one("/html")
            #expect(root["lang"] == "fa")
            #expect(root["data-theme"] == "dark")
            let other = await site.get("/admin/", acceptedLanguages: "ru", cookies: ["lang=xx; theme=; fa; =; lang"])
            #expect(try HTMLPage(other.body).one("/html")["lang"] == "ru")
            #expect(try HTMLPage(other.body).one("/html")["data-theme"] == "auto")
        }
    }

    @Test("A choice is kept in a cookie, and leads back to the page")
    func choice() async throws {
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

    @Test("What isn't a choice is kept in no cookie")
    func noChoice() async throws {
        try await TestSite.with { site in
            let response = await site.send("next=/admin/&lang=fa%0D%0AX-A:+b&theme=", to: "/admin/preferences")
            #expect(response.headers[values: .setCookie] == [])
            #expect(await site.send("lang=%FF", to: "/admin/preferences").headers[values: .setCookie] == [])
            #expect(await site.get("/admin/preferences").status == .methodNotAllowed)
        }
    }

    @Test(
        "No form leads to another host",
        arguments: [
            "//example.org/", "https://example.org/", "/%5Cexample.org", "%5C/example.org", "/%09/example.org", "%20/admin/",
            "admin/",
            "/admin/%0D%0ASet-Cookie:a=b", "/admin/%C3%A9", "",
        ]
    )
    func returnAddress(next: String) async throws {
        try await TestSite.with { site in
            let response = await site.send("next=\(next)&theme=dark", to: "/admin/preferences")
            #expect(response.headers[.location] == "/admin/")
        }
    }
}
