import DocumentModel
import DocumentStore
import Foundation
import HTTPTypes
import HearthService
import StrictJSON
import Synchronization
import Testing

@testable import HearthAdmin

@Suite("Importing in the browser")
struct ImportPageTests {
    private func send(
        _ site: TestSite,
        _ file: String,
        name: String = "x.ndjson",
        collection: String = "",
        limit: Int = ImportFile.maximumBytes
    ) async throws -> PageResponse {
        let parts = [
            "Content-Disposition: form-data; name=\"form-token\"\r\n\r\n\(TestSite.token())",
            "Content-Disposition: form-data; name=\"collection\"\r\n\r\n\(collection)",
            "Content-Disposition: form-data; name=\"file\"; filename=\"\(name)\"\r\nContent-Type: text/plain\r\n\r\n\(file)",
        ]
        let body = Array((parts.map { "--XX\r\n\($0)\r\n" }.joined() + "--XX--\r\n").utf8)
        var reader = try #require(
            UploadReader(
                contentType: "multipart/form-data; boundary=XX",
                to: site.pages.uploads,
                of: "anybody",
                folder: site.folder.path,
                limit: limit
            )
        )
        var request = AdminPages.PageRequest(method: .post, path: "/admin/import")
        do throws(UploadReader.Fault) {
            for start in stride(from: 0, to: body.count, by: 100) {
                try await reader.take(Array(body[start..<min(start + 100, body.count)]))
            }
            request.upload = .success(try reader.finish())
        } catch {
            request.upload = .failure(error)
        }
        return await site.pages.response(to: request)
    }

    /// The form of a file that was checked.
    private func confirmation(_ site: TestSite, _ response: PageResponse) async throws -> (page: HTMLPage, form: String) {
        let page = try await site.page(try #require(response.headers[.location]))
        #expect(page.complaints == [])
        return (page, "upload=\(try #require(page.one("//button[@name='upload']")["value"]))")
    }

    @Test("The collection of the address stands in the form as what it is, whatever characters it has")
    func collectionOfAddress() async throws {
        try await TestSite.with { site in
            let page = try HTMLPage(await site.get("/admin/import?collection=a%00b%E2%80%AEc").body)
            #expect(try page.one("//input[@id='collection']")["value"] == #""a\u0000b\u202ec""#)
            let quoted = try HTMLPage(await site.get("/admin/import?collection=%22a%22").body)
            #expect(try quoted.one("//input[@id='collection']")["value"] == #""\"a\"""#)
        }
    }

    @Test("A file is checked first, and written when that is asked for")
    func twoSteps() async throws {
        try await TestSite.with { site in
            let response = try await send(
                site,
                "{\"path\":\"a/1\",\"fields\":{}}\n{\"path\":\"a/2\"}\n{\"path\":\"a/<b>\",\"fields\":{}}"
            )
            #expect(response.status == .seeOther)
            let address = try #require(response.headers[.location])
            let page = try await site.page(address)
            #expect(try page.one("//section/p[1]").text == "2 documents can be imported. 1 cannot.")
            #expect(try page.texts("//ul[@class='sample']//a") == ["a/1", "a/<b>"])
            #expect(try page.texts("//ul[@class='faults']/li/code") == ["line 2"])
            let collection = try CollectionPath("a")
            #expect(
                try await site.store.documents(in: collection, after: nil, limit: 9, includingMissing: false).documents.isEmpty
            )
            let button = try page.one("//button[@name='upload']")
            let done = await site.post("/admin/import", "upload=\(try #require(button["value"]))")
            #expect(done.status == .seeOther)
            let result = try await site.page(try #require(done.headers[.location]))
            #expect(try result.one("//p[@class='count']").text == "2 documents imported")
            #expect(
                try await site.store.documents(in: collection, after: nil, limit: 9, includingMissing: false).documents.count == 2
            )
        }
    }

    @Test("A table goes to the collection that is named")
    func table() async throws {
        try await TestSite.with { site in
            let response = try await send(site, "__name__,n\none,1\n", name: "t.csv", collection: "books")
            let page = try await site.page(try #require(response.headers[.location]))
            let button = try page.one("//button[@name='upload']")
            let done = await site.post("/admin/import", "upload=\(try #require(button["value"]))")
            #expect(done.headers[.location] == "/admin/data/books")
            #expect(done.headers[.setCookie]?.hasPrefix("flash=imported.1;") == true)
            let path = try DocumentPath("books/one")
            #expect(try await site.store.document(at: path)?.decoded().fields == ["n": .integer(1)])
        }
    }

    private static let two = "{\"path\":\"a/1\",\"fields\":{\"n\":2}}\n{\"path\":\"a/2\",\"fields\":{}}\n"

    @Test("The check says how many are new, how many are there, and which stand twice", arguments: ["replace", "keep"])
    func existing(choice: String) async throws {
        let path = try DocumentPath("a/1")
        try await TestSite.with([.create(path, ["n": .integer(1)])]) { site in
            let response = try await send(site, Self.two + "\n{\"path\":\"a/2\",\"fields\":{\"second\":true}}")
            let (page, form) = try await confirmation(site, response)
            let text = try page.one("//section").text
            #expect(text.contains("1 of the documents is new. 1 document has the path of one that is there already."))
            #expect(try page.texts("//ul[@id='repeated']/li/code") == ["lines 2 and 4"])
            let done = await site.post("/admin/import", "\(form)&existing=\(choice)")
            #expect(try await site.store.document(at: path)?.decoded().fields == ["n": .integer(choice == "keep" ? 1 : 2)])
            let second = try await site.store.document(at: try DocumentPath("a/2"))?.decoded().fields
            #expect(second == (choice == "keep" ? [:] : ["second": .boolean(true)]))
            guard choice == "keep" else { return }
            let result = try await site.page(try #require(done.headers[.location]))
            #expect(try result.one("//p[@class='count']").text == "1 document imported")
            #expect(try result.one("//*[@id='main']").text.contains("2 documents were there already and were left as they are."))
        }
    }

    @Test("A file that is sent to be imported twice at once is imported once, and the second form leads to the first one's work")
    func twice() async throws {
        try await TestSite.with { site in
            let (_, form) = try await confirmation(site, try await send(site, Self.two))
            async let one = site.post("/admin/import", form)
            async let other = site.post("/admin/import", form)
            let locations = try await [one, other].map { try #require($0.headers[.location]) }
            #expect(locations.contains("/admin/"))
            #expect(locations.contains { $0.hasPrefix("/admin/work/") })
            #expect(try await site.store.settledPosition().lastSequence == SequenceNumber(1))
        }
    }

    @Test("A file of more documents than can be compared with each other says so")
    func manyPaths() async throws {
        try await TestSite.with { site in
            let lines = [1, 2, 3, 3, 1].map { "{\"path\":\"a/\($0)\",\"fields\":{}}\n" }.joined()
            let upload = Uploads.Upload(
                id: "u",
                visitor: "anybody",
                database: site.pages.context.databaseName,
                file: try await ImportFile.sent(Array(lines.utf8), name: "x.ndjson"),
                plan: ImportPlan()
            )
            for (limit, repeated) in [(2, 1), (3, 2)] {
                let work = Work(
                    .checking,
                    of: "x.ndjson",
                    in: .standard,
                    id: "w",
                    for: Visitor(caller: .anybody),
                    backURL: "/",
                    at: .current()
                )
                let check = try await ImportCheck.check(
                    upload,
                    in: site.pages.context,
                    by: work,
                    beginningWith: ImportCheck(comparing: limit)
                )
                #expect(check.isPartlyCompared == (limit == 2))
                #expect(check.repeated.count == repeated)
                let found = ImportPage.Found(upload, check)
                #expect((found.child(named: "comparedText") is String) == (limit == 2))
            }
        }
    }

    @Test("A file whose import can't begin is not lost")
    func refused() async throws {
        try await TestSite.with { site in
            let (_, form) = try await confirmation(site, try await send(site, Self.two))
            let (waiting, go) = AsyncStream<Never>.makeStream()
            let works = (0..<2).map { number in
                Work(
                    .importing,
                    of: "x.ndjson",
                    in: .standard,
                    id: UTF8Key("w\(number)"),
                    for: Visitor(caller: .anybody),
                    backURL: "/",
                    at: .current()
                )
            }
            for work in works {
                try site.pages.works.begin(work) { _ throws(StatusError) in for await _ in waiting {} }
            }
            let refused = await site.post("/admin/import", form)
            #expect(refused.status == .tooManyRequests)
            #expect(try HTMLPage(refused.body).all("//button[@name='upload']").count == 1)
            go.finish()
            for work in works { await work.wait(atMost: .seconds(600)) }
            let again = await site.post("/admin/import", form)
            #expect(again.status == .seeOther)
            #expect(try await site.store.document(at: try DocumentPath("a/1")) != nil)
        }
    }

    @Test("A file that is too large is refused with the form")
    func tooLarge() async throws {
        try await TestSite.with { site in
            let response = try await send(site, String(repeating: "x", count: 5_000), limit: 4_000)
            #expect(response.status == .contentTooLarge)
            let faults = try HTMLPage(response.body).texts("//p[@id='file-fault']")
            #expect(faults.count == 1)
        }
    }

    @Test("A file for which there is no room is refused with the form")
    func noRoom() async throws {
        try await TestSite.with { site in
            var request = AdminPages.PageRequest(method: .post, path: "/admin/import")
            request.upload = .failure(.noRoom)
            let response = await site.pages.response(to: request)
            #expect(response.status == .tooManyRequests)
            let faults = try HTMLPage(response.body).texts("//p[@id='file-fault']")
            #expect(faults.count == 1)
        }
    }

    @Test("Of a form no more bytes are taken than its file may have and a little around it, whatever they are")
    func endless() async throws {
        try await TestSite.with { site in
            var reader = try #require(
                UploadReader(
                    contentType: "multipart/form-data; boundary=XX",
                    to: site.pages.uploads,
                    of: "anybody",
                    folder: site.folder.path,
                    limit: 1_000
                )
            )
            try await reader.take(Array("--XX--\r\n".utf8))
            var takenBytes = 0
            await #expect(throws: UploadReader.Fault.self) {
                while takenBytes < 1 << 30 {
                    try await reader.take([UInt8](repeating: 0, count: 4_096))
                    takenBytes += 4_096
                }
            }
            #expect(takenBytes < reader.maximumBytes)
        }
    }

    @Test("Works are ended with the server, say so, and no more are begun")
    func closing() async throws {
        try await TestSite.with { site in
            let (reached, reach) = AsyncStream<Void>.makeStream()
            let work = Work(
                .importing,
                of: "x.ndjson",
                in: site.pages.context.databaseName,
                id: "w",
                for: Visitor(caller: .anybody),
                backURL: "/",
                at: .current()
            )
            try site.pages.works.begin(work) { work throws(StatusError) in
                reach.yield()
                while !work.isStopping { await Task.yield() }
                work.update { $0.done = 7 }
            }
            for await _ in reached { break }
            await site.pages.close()
            #expect(work.progress.isOver)
            #expect(work.progress.done == 7)
            let page = try await site.page("/admin/work/w")
            #expect(try page.one("//div[@class='alert']").text.contains("The server was stopped. What was done stays done."))
            let address = try #require(try await send(site, Self.two).headers[.location])
            #expect(await site.get(address).status == .serviceUnavailable)
        }
    }

    @Test("Files that nobody asks for are forgotten")
    func idle() async throws {
        let clock = Mutex(ContinuousClock.now)
        let clockTime = { @Sendable in clock.withLock { $0 } }
        let uploads = Uploads(now: clockTime)
        let upload = Uploads.Upload(
            id: "1",
            visitor: "v",
            database: .standard,
            file: try await .sent([1], name: "x"),
            plan: ImportPlan()
        )
        #expect(uploads.keep(upload))
        #expect(uploads.upload("1", for: "w", in: .standard) == nil)
        clock.withLock { $0 += Uploads.maximumIdle - .seconds(1) }
        uploads.removeIdle()
        #expect(uploads.upload("1", for: "v", in: .standard) != nil)
        clock.withLock { $0 += Uploads.maximumIdle }
        uploads.removeIdle()
        #expect(uploads.upload("1", for: "v", in: .standard) == nil)
    }

    @Test("A form without a file, or for no collection, is shown again", arguments: [("", ""), ("x", "a/b")])
    func faults(file: String, collection: String) async throws {
        try await TestSite.with { site in
            let response = try await send(site, file, collection: collection)
            #expect(response.status == .unprocessableContent)
        }
    }
}
