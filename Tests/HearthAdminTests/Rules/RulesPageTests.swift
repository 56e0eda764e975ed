import DocumentModel
import Foundation
import HTTPTypes
import Testing
import UTF8Text

@testable import HearthAPI
@testable import HearthAdmin

@Suite("Rules page")
struct RulesPageTests {
    private static let url = "/admin/rules"
    private static let open = RulesTestData.rules("match /books/{b} { allow read; }")
    private static let closed = RulesTestData.rules("match /books/{b} { allow read: if false; }")
    private static let broken = RulesTestData.rules("match /books/{b} { allow read: if; }")

    /// Returns the editor's form on a page.
    private func editor(_ page: HTMLPage) throws -> BrowserForm {
        try BrowserForm(page, "//form[@id='editor']")
    }

    @Test
    func `A database without rules shows an example to begin from`() async throws {
        try await TestSite.with { site in
            let page = try await site.page(Self.url)
            #expect(page.parseErrors == [])
            try GoldenFile.check(page, "rules-empty.html")
            let text = try #require(try editor(page)["rules"])
            #expect(RulesCheck(text).issues == [])
        }
    }

    @Test
    func `The active rules are shown with the number of denied requests`() async throws {
        try await TestSite.with { site in
            try await site.setRules(Self.open)
            try await site.setRules(Self.closed)
            let anonymous = site.pages.context.withCaller(.anonymous)
            for path in ["books/a", "books/b", "others/c"] {
                await #expect(throws: StatusError.self) {
                    try await GetDocument.document(.init(path: DocumentPath(path)), in: anonymous)
                }
            }
            let page = try await site.page(Self.url)
            #expect(page.parseErrors == [])
            try GoldenFile.check(page, "rules.html")
            #expect(try page.texts("//tr[@id='L4']//span[@class='type unusual']") == ["denied 2 times"])
            #expect(
                try page.texts("//section[@aria-labelledby='denials']//tbody/tr") == [
                    "\nline 4\nget\n2\n2 hours ago\n", "\nno statement matches\nget\n1\n2 hours ago\n",
                ]
            )
            #expect(try page.one("//section[@aria-labelledby='denials']//a")["href"] == "#L4")
        }
    }

    @Test
    func `The text is checked without being saved`() async throws {
        try await TestSite.with { site in
            let form = try editor(try await site.page(Self.url))
            let sound = await site.post(Self.url, form.with(["rules": Self.open, "do": "check"]).text)
            #expect(sound.status == .ok)
            #expect(try HTMLPage(sound.body).one("//*[@id='checked']/p").text.contains("The rules compile."))
            let response = await site.post(Self.url, form.with(["rules": Self.broken, "do": "check"]).text)
            #expect(response.status == .unprocessableContent)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            try GoldenFile.check(page, "rules-errors.html")
            #expect(try page.one("//*[@class='issues']/li/a")["href"] == "#C4")
            #expect(try page.all("//tr[@id='C4' and @class='error']//mark").count == 1)
            #expect(try page.one("//textarea[@id='rules']")["data-line"] == "4")
            #expect(try editor(page)["rules"] == Self.broken)
            #expect(site.activeRules == nil)
        }
    }

    @Test
    func `Rules are deployed, and ones with errors are not`() async throws {
        try await TestSite.with { site in
            try await site.setRules(Self.closed)
            let form = try editor(try await site.page(Self.url))
            let refused = await site.post(Self.url, form.with(["rules": Self.broken, "do": "deploy"]).text)
            #expect(refused.status == .unprocessableContent)
            #expect(site.activeRules == Self.closed)
            let response = await site.post(Self.url, form.with(["rules": Self.open, "do": "deploy"]).text)
            #expect(response.status == .seeOther)
            #expect(response.headers[.location] == Self.url)
            #expect(site.activeRules == Self.open)
            let same = try editor(try await site.page(Self.url)).with(["do": "deploy"])
            #expect(await site.post(Self.url, same.text).headers[values: .setCookie].contains { $0.contains("unchanged") })
            #expect(try await site.pages.context.rules.history().versions.map(\.text) == [Self.closed])
        }
    }

    @Test
    func `Rules with warnings are deployed once the warnings are confirmed`() async throws {
        try await TestSite.with { site in
            try await site.setRules(Self.closed)
            let text = RulesTestData.rules("match /books/{b} { allow read, write: if true; }")
            let form = try editor(try await site.page(Self.url)).with(["rules": text, "do": "deploy"])
            let response = await site.post(Self.url, form.text)
            #expect(response.status == .unprocessableContent)
            #expect(site.activeRules == Self.closed)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            #expect(try page.one("//*[@id='checked']/ul[@class='issues']/li[@class='warning']").text.contains("Anyone can write"))
            #expect(try page.one("//*[@id='problems']//a")["href"] == "#warnings")
            let digest = try #require(try page.one("//input[@id='warnings']")["value"])
            // The confirmation is one of these rules, not of others with the same warnings.
            let confirmed = try editor(page).with(["warnings": digest, "do": "deploy"])
            let other = text.replacing("/books/{b}", with: "/{path=**}")
            #expect(await site.post(Self.url, confirmed.with(["rules": other]).text).status == .unprocessableContent)
            #expect(await site.post(Self.url, confirmed.text).status == .seeOther)
            #expect(site.activeRules == text)
        }
    }

    @Test(arguments: [true, false])
    func `Rules that others have deployed meanwhile are shown instead of overwritten`(existed: Bool) async throws {
        try await TestSite.with { site in
            if existed { try await site.setRules(RulesTestData.rules("")) }
            let form = try editor(try await site.page(Self.url)).with(["rules": Self.open, "confirm": "1", "do": "deploy"])
            try await site.setRules(Self.closed)
            let response = await site.post(Self.url, form.text)
            #expect(response.status == .conflict)
            #expect(site.activeRules == Self.closed)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            if existed { try GoldenFile.check(page, "rules-conflict.html") }
            let lines = ["removed": ": if false", "added": "allow read;"]
            for (kind, text) in lines {
                #expect(try page.one("//ul[contains(@class,'changes')]/li[@class='\(kind)']/code").text.contains(text))
            }
            let again = try editor(page)
            #expect(again["rules"] == Self.open)
            #expect(await site.post(Self.url, again.with(["do": "deploy"]).text).status == .seeOther)
            #expect(site.activeRules == Self.open)
        }
    }

    @Test
    func `An earlier version is compared with the active one and restored`() async throws {
        try await TestSite.with { site in
            try await site.setRules(Self.closed)
            try await site.setRules(Self.open)
            let address = try await site.page(Self.url).one("//section[@aria-labelledby='versions']//th/a")["href"] ?? ""
            let page = try await site.page(address)
            #expect(page.parseErrors == [])
            try GoldenFile.check(page, "rules-version.html")
            #expect(try page.all("//li[@class='added']").count == 1)
            let form = try BrowserForm(page, "//form[.//button[@value='restore']]").with(["do": "restore"])
            try await site.setRules(RulesTestData.rules(""))
            let stale = await site.post(Self.url, form.text)
            #expect(stale.status == .unprocessableContent)
            let current = try BrowserForm(try await site.page(address), "//form[.//button[@value='restore']]")
            #expect(await site.post(Self.url, current.with(["do": "restore"]).text).status == .seeOther)
            #expect(site.activeRules == Self.closed)
            #expect(try await site.page("\(Self.url)?version=00").texts("//main//h1") == ["Not found"])
        }
    }

    @Test
    func `The file that does not compile is shown with its errors, and can be mended`() async throws {
        try await TestSite.with { site in
            try await site.setRules(Self.open)
            try Data(Self.broken.utf8).write(to: site.folder.appending(path: "firestore.rules"))
            await site.pages.context.rulesRegistry.refresh()
            let page = try await site.page(Self.url)
            #expect(page.parseErrors == [])
            let problem = "//section[@aria-labelledby='file-problem']"
            #expect(try page.one("\(problem)/p").text == "The previous rules still decide.")
            #expect(try page.all("\(problem)//tr[@id='F4' and @class='error']").count == 1)
            #expect(try page.all("//section[@aria-labelledby='active']//tr[@id='L4']").count == 1)
            let form = try editor(page)
            #expect(form["rules"] == Self.broken)
            #expect(await site.post(Self.url, form.with(["rules": Self.closed, "do": "deploy"]).text).status == .seeOther)
            #expect(site.activeRules == Self.closed)
        }
    }

    @Test
    func `A file that is no text is reported`() async throws {
        try await TestSite.with { site in
            try Data([0xff, 0xfe]).write(to: site.folder.appending(path: "firestore.rules"))
            await site.pages.context.rulesRegistry.refresh()
            let page = try await site.page(Self.url)
            #expect(try page.one("//*[@id='file-problem']").text.contains("UTF-8"))
            let form = try editor(page).with(["rules": Self.open, "confirm": "1", "do": "deploy"])
            #expect(await site.post(Self.url, form.text).status == .seeOther)
            #expect(site.activeRules == Self.open)
        }
    }

    @Test
    func `The page requires the admin role, and so does its link`() async throws {
        try await TestSite.with { site in
            _ = try await site.keys.create(.init(role: .admin))
            for role in [Role.reader, .writer] {
                let caller = try site.keys.authenticate(Array(try await site.keys.create(.init(role: role)).text.utf8))
                for address in [Self.url, "\(Self.url)?version=a", "\(Self.url)/playground"] {
                    #expect(await site.get(address, as: caller).status == .forbidden)
                }
                let form = RulesTestData.form(["do": "deploy", "base": "", "rules": Self.open])
                #expect(await site.post(Self.url, form, as: caller).status == .forbidden)
                #expect(await site.post("\(Self.url)/playground", "do=run&path=a/b", as: caller).status == .forbidden)
                let links = try HTMLPage(await site.get("/admin/", as: caller).body).all("//nav[@class='links']//a")
                #expect(!links.contains { $0["href"] == Self.url })
            }
            let own = try await site.page("/admin/").all("//nav[@class='links']//a")
            #expect(own.contains { $0["href"] == Self.url })
            #expect(site.activeRules == nil)
        }
    }

    @Test
    func `A form with another token keeps the text and changes nothing`() async throws {
        try await TestSite.with { site in
            let form = RulesTestData.form(["do": "deploy", "base": "", "confirm": "1", "rules": Self.open, "form-token": "0"])
            for address in [Self.url, "\(Self.url)/playground"] {
                // The first of two tokens counts.
                let response = await site.post(address, form)
                #expect(response.status == .unprocessableContent)
                let kept = try BrowserForm(HTMLPage(response.body), "//form[.//textarea[@id='rules']]")
                #expect(kept["rules"] == Self.open)
            }
            #expect(site.activeRules == nil)
        }
    }

    @Test
    func `The first rules of a server without keys need a confirmation, since they make it require keys`() async throws {
        try await TestSite.with { site in
            let form = try editor(try await site.page(Self.url)).with(["rules": Self.open, "do": "deploy"])
            #expect(form["confirm"] == nil)
            #expect(await site.post(Self.url, form.text).status == .unprocessableContent)
            #expect(site.activeRules == nil)
            #expect(await site.post(Self.url, form.with(["confirm": "1"]).text).status == .seeOther)
            let boxes = try await site.page(Self.url).all("//*[@id='confirm']")
            #expect(boxes.isEmpty)
        }
    }

    @Test
    func `All confirmations that a deployment needs are asked for at once, and those that were given are kept`() async throws {
        try await TestSite.with { site in
            let text = RulesTestData.rules("match /books/{b} { allow write; }")
            let form = try editor(try await site.page(Self.url)).with(["rules": text, "do": "deploy"])
            let asked = try HTMLPage(await site.post(Self.url, form.text).body)
            #expect(asked.parseErrors == [])
            #expect(try asked.all("//*[@id='problems']//a").map { $0["href"] } == ["#confirm", "#warnings"])
            let partial = try editor(asked).with(["confirm": "1", "do": "deploy"])
            let again = try HTMLPage(await site.post(Self.url, partial.text).body)
            #expect(try again.all("//*[@id='problems']//a").map { $0["href"] } == ["#warnings"])
            let digest = try #require(try again.one("//input[@id='warnings']")["value"])
            #expect(site.activeRules == nil)
            let complete = try editor(again).with(["warnings": digest, "do": "deploy"])
            #expect(await site.post(Self.url, complete.text).status == .seeOther)
            #expect(site.activeRules == text)
        }
    }

    @Test
    func `Pages of a server in emulator mode say so`() async throws {
        try await TestSite.with(isEmulator: true) { site in
            _ = try site.pages.context.rulesRegistry.replaceRules(ofProject: DatabaseID.standard.project, with: Self.open)
            let page = try await site.page(Self.url)
            #expect(try page.one("//header[@class='top']/span").text == "Emulator")
            #expect(try page.one("//footer/p[2]").text.contains("emulator mode"))
            #expect(try page.texts("//dl[@class='facts']/div[2]/dd") == ["a test program"])
            #expect(try page.all("//*[@id='confirm']").isEmpty)
        }
        try await TestSite.with { site in
            let labels = try await site.page(Self.url).all("//header[@class='top']/span")
            #expect(labels.isEmpty)
        }
    }

    @Test(arguments: HostileValueTests.texts + HostileValueTests.invisible)
    func `Rules text is never interpreted as markup`(text: String) async throws {
        try await TestSite.with { site in
            let hostile = RulesTestData.rules("match /books/{b} { allow read: if b == '\(text)'; } // \(text)\n\(text)")
            let form = RulesTestData.form(["do": "check", "base": text, "rules": hostile])
            let checked = try HTMLPage(await site.post(Self.url, form).body)
            // The parser rejects control characters, which a text area cannot escape.
            let isParsed = !text.utf8.contains { $0 < 0x20 && $0 != 0x0a && $0 != 0x0d && $0 != 0x09 }
            if isParsed { #expect(checked.parseErrors == []) }
            try checked.checkInert()
            // A comment makes any single line valid.
            let line = text.unicodeScalars.filter { !$0.properties.isWhitespace }.map(String.init).joined()
            try await site.setRules(RulesTestData.rules("// \(line)"))
            try await site.setRules(RulesTestData.rules("match /books/{b} { allow read; } // \(line)"))
            let version = try #require(try await site.pages.context.rules.history().versions.first?.version)
            for address in [Self.url, "\(Self.url)?version=\(version)", "\(Self.url)/playground"] {
                let page = try await site.page(address)
                if isParsed { #expect(page.parseErrors == []) }
                try page.checkInert()
            }
            let unknown = await site.get("\(Self.url)?version=\(PercentEncoding.encode(UTF8Key(text)))")
            #expect(unknown.status == .notFound)
        }
    }

    @Test(
        arguments: [
            String(repeating: "\n", count: 256 << 10), String(repeating: "<", count: 256 << 10),
            String(repeating: "(", count: 256 << 10), String(repeating: "a", count: (256 << 10) + 1),
            String(repeating: "match /a { ", count: 20_000), "",
        ]
    )
    func `Large texts are checked within bounds`(text: String) async throws {
        try await TestSite.with { site in
            let form = RulesTestData.form(["do": "check", "base": "", "rules": text])
            for (address, form) in [
                (Self.url, form), ("\(Self.url)/playground", "\(form)&path=a/b".replacing("check", with: "run")),
            ] {
                let response = await site.post(address, form)
                #expect(response.status.code < 500)
                #expect(response.body.count < 8 << 20)
            }
        }
    }
}
