import DocumentModel
import DocumentStore
import Foundation
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Backups page", .timeLimit(.minutes(10)))
struct BackupsPageTests {
    /// Makes a backup through the page, waits until it is complete, and returns its name.
    private static func makeBackup(_ site: TestSite, _ fields: String = "") async throws -> String {
        let form = try BrowserForm(await site.page("/admin/backups"), "//section[@aria-labelledby='create']/form")
        let response = await site.post("/admin/backups", form.text + fields)
        #expect(response.status == .seeOther)
        #expect(response.headers[.location] == "/admin/backups")
        while true {
            let list = try await ListBackups.call((), in: site.pages.context)
            if list.status.runningSince == nil { return try #require(list.backups.last).name }
            await Task.yield()
        }
    }

    @Test
    func `Without a folder for backups, the page tells how to name one`() async throws {
        try await TestSite.with { site in
            let page = try await site.page("/admin/backups")
            #expect(page.parseErrors == [])
            #expect(try page.texts("//pre")[0].hasPrefix("hearth serve --backups "))
            #expect(try page.all("//main//form").isEmpty)
            #expect(await site.post("/admin/backups", "").status == .ok)
        }
    }

    @Test
    func `A backup is made, listed and verified, and the command that restores it is shown`() async throws {
        try await TestSite.with(GuideData.writes(), hasBackups: true) { site in
            #expect(try await site.page("/admin/backups").all("//p[@class='empty']").count == 1)
            let name = try await Self.makeBackup(site, "&keys=1")
            var page = try await site.page("/admin/backups")
            #expect(page.parseErrors == [])
            #expect(try page.texts("//tbody/tr/th") == [name])
            #expect(try page.texts("//tbody/tr/td[5]") == ["included"])
            #expect(try page.texts("//tbody/tr/td[6]") == ["–"])
            #expect(
                try page.one("//pre[@id='restore-command']").text
                    == "hearth restore DIR/\(name) --data data --previous data.old"
            )
            let response = await site.post("/admin/backups", "verify=\(name)")
            #expect(response.headers[.location] == "/admin/backups")
            #expect(response.headers[values: .setCookie].contains { $0.hasPrefix("flash=backup-verified") })
            page = try await site.page("/admin/backups")
            #expect(try page.texts("//tbody/tr/td[6]") != ["–"])
        }
    }

    @Test
    func `Faults that a verification finds are listed on the page of its job`() async throws {
        try await TestSite.with(GuideData.writes(), hasBackups: true) { site in
            let name = try await Self.makeBackup(site)
            let file = site.backupFolder.appending(path: "\(name)/documents/books/hitchhiker.json")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            try Data("{}".utf8).write(to: file)
            let response = await site.post("/admin/backups", "verify=\(name)")
            let address = try #require(response.headers[.location])
            #expect(address.hasPrefix("/admin/jobs/"))
            let page = try await site.page(address)
            #expect(try page.texts("//ul[@class='item-errors']/li/code") == ["documents/books/hitchhiker.json"])
            #expect(try await site.page("/admin/backups").texts("//tbody/tr/td[6]/span") == ["1 error"])
        }
    }

    @Test
    func `A name that is not in the list is refused, and a stale form changes nothing`() async throws {
        try await TestSite.with(hasBackups: true) { site in
            let unknown = await site.post("/admin/backups", "verify=..%2F..%2Fetc")
            #expect(unknown.status == .unprocessableContent)
            #expect(try HTMLPage(unknown.body).one("//*[@id='problems']").text.contains("doesn’t exist any more"))
            let form = try BrowserForm(await site.page("/admin/backups"), "//section[@aria-labelledby='create']/form")
            let stale = await site.post("/admin/backups", form.with(["form-token": "x"]).text)
            #expect(stale.status != .seeOther)
            #expect(try await ListBackups.call((), in: site.pages.context).backups.isEmpty)
        }
    }
}
