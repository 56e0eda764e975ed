import DocumentModel
import DocumentStore
import FileStore
import Foundation
import HTTPTypes
import HearthAPI
import Synchronization
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Import page")
struct ImportPageTests {
    private func send(
        _ site: TestSite,
        _ file: String,
        name: String = "x.ndjson",
        collection: String = "",
        pasted: String = "",
        limit: Int = UploadedFile.maximumBytes
    ) async throws -> PageResponse {
        let parts = [
            "Content-Disposition: form-data; name=\"form-token\"\r\n\r\n\(TestSite.token())",
            "Content-Disposition: form-data; name=\"collection\"\r\n\r\n\(collection)",
            "Content-Disposition: form-data; name=\"pasted\"\r\n\r\n\(pasted)",
            "Content-Disposition: form-data; name=\"file\"; filename=\"\(name)\"\r\nContent-Type: text/plain\r\n\r\n\(file)",
        ]
        let body = Array((parts.map { "--XX\r\n\($0)\r\n" }.joined() + "--XX--\r\n").utf8)
        var receiver = try #require(
            UploadReceiver(
                contentType: "multipart/form-data; boundary=XX",
                to: site.pages.uploads,
                of: "anybody",
                fileLimit: limit
            )
        )
        var request = PageRequest(method: .post, path: "/admin/import")
        do throws(UploadReceiver.Failure) {
            for start in stride(from: 0, to: body.count, by: 100) {
                try await receiver.append(Array(body[start..<min(start + 100, body.count)]))
            }
            request.upload = .success(try await receiver.finish())
        } catch {
            request.upload = .failure(error)
        }
        return await site.pages.response(to: request)
    }

    /// Returns the preview page of an upload and the form that confirms the import.
    private func confirmation(_ site: TestSite, _ response: PageResponse) async throws -> (page: HTMLPage, form: String) {
        let page = try await site.page(try #require(response.headers[.location]))
        #expect(page.parseErrors == [])
        return (page, "upload=\(try #require(page.one("//button[@name='upload']")["value"]))")
    }

    @Test
    func `The collection in the URL is prefilled in the form, with escapes for invisible characters`() async throws {
        try await TestSite.with { site in
            let page = try HTMLPage(await site.get("/admin/import?collection=a%00b%E2%80%AEc").body)
            #expect(try page.one("//input[@id='collection']")["value"] == #""a\u0000b\u202ec""#)
            let quoted = try HTMLPage(await site.get("/admin/import?collection=%22a%22").body)
            #expect(try quoted.one("//input[@id='collection']")["value"] == #""\"a\"""#)
        }
    }

    @Test(
        arguments: [
            #"[{"path": "a/1", "fields": {"n": 1}}, {"path": "a/2", "fields": {}}]"#,
            "{\"path\": \"a/1\", \"fields\": {}}\r\n{\"path\": \"a/2\", \"fields\": {}}", "__name__,n\r\n1,5\r\n2,6",
        ]
    )
    func `Pasted documents are imported as those of a file; a file takes precedence`(pasted: String) async throws {
        try await TestSite.with { site in
            let collection = try CollectionPath("a")
            let response = try await send(site, "", name: "", collection: "a", pasted: pasted)
            #expect(response.status == .seeOther)
            let (_, form) = try await confirmation(site, response)
            #expect(await site.post("/admin/import", form).status == .seeOther)
            let page = try await site.store.documents(in: collection, after: nil, limit: 9, includingMissing: false)
            #expect(page.documents.map(\.path.id.key) == ["1", "2"])
            let both = try await send(site, "{\"path\": \"b/1\", \"fields\": {}}", pasted: pasted)
            let preview = try await site.page(try #require(both.headers[.location]))
            #expect(try preview.texts("//ul[@class='sample']/li") == ["b/1 {}"])
            let neither = try await send(site, "", name: "")
            #expect(neither.status == .unprocessableContent)
            #expect(String(decoding: neither.body, as: UTF8.self).contains("Choose a file, or paste documents."))
        }
    }

    @Test(arguments: ["", "a//b"])
    func `Pasted documents stay in the form, with problems and beside the preview`(collection: String) async throws {
        let pasted = "\n{\"n\": \"<&\"}\n{\"n\": }\n"
        try await TestSite.with { site in
            var response = try await send(site, "", name: "", collection: collection, pasted: pasted)
            if let location = response.headers[.location] { response = await site.get(location) }
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            #expect(try BrowserForm(page, "//form[@enctype]")["pasted"] == pasted)
        }
    }

    @Test
    func `A file whose documents have no path needs a collection, which is said once`() async throws {
        try await TestSite.with { site in
            let lines = (0..<3_000).map { "{\"n\": \($0)}" }.joined(separator: "\n")
            let response = try await send(site, lines)
            var page = try HTMLPage(await site.get(try #require(response.headers[.location])).body)
            // The check of a file is a job, whose page leads back here.
            let link = try page.all("//main//a[.='Continue with the import']").first?["href"]
            if let link { page = try await site.page(link) }
            #expect(page.parseErrors == [])
            let text = "3,000 documents have no path. Enter a collection, and check the file again."
            #expect(try page.one("//*[@id='problems']//li").text == "Collection: \(text)")
            #expect(try page.one("//input[@id='collection']")["aria-invalid"] == "true")
            #expect(try page.all("//ul[@class='item-errors']").isEmpty)
        }
    }

    @Test
    func `A file is previewed first and imported after confirmation`() async throws {
        try await TestSite.with { site in
            let response = try await send(
                site,
                "{\"path\":\"a/1\",\"fields\":{}}\n{\"path\":\"a/2\"}\n{\"path\":\"a/<b>\",\"fields\":{\"title\":\"<i>\"}}"
            )
            #expect(response.status == .seeOther)
            let address = try #require(response.headers[.location])
            let page = try await site.page(address)
            #expect(try page.one("//section/p[1]").text == "2 documents can be imported. 1 document can’t be imported.")
            // The documents don't exist yet, so nothing links to them.
            #expect(try page.texts("//ul[@class='sample']/li") == ["a/1 {}", "a/<b> {\"title\": \"<i>\"}"])
            #expect(try page.all("//ul[@class='sample']//a").isEmpty)
            #expect(try page.texts("//ul[@class='item-errors']/li/code") == ["line 2"])
            let collection = try CollectionPath("a")
            #expect(
                try await site.store.documents(in: collection, after: nil, limit: 9, includingMissing: false).documents.isEmpty
            )
            let button = try page.one("//button[@name='upload']")
            let done = await site.post("/admin/import", "upload=\(try #require(button["value"]))")
            #expect(done.status == .seeOther)
            let result = try await site.page(try #require(done.headers[.location]))
            #expect(try result.one("//p[@class='job-count']").text == "2 documents imported")
            #expect(try result.all("//section[@aria-labelledby='written']//a").map { $0["href"] } == ["/admin/data/a"])
            #expect(
                try await site.store.documents(in: collection, after: nil, limit: 9, includingMissing: false).documents.count == 2
            )
        }
    }

    @Test
    func `A CSV table is imported into the specified collection`() async throws {
        try await TestSite.with { site in
            let response = try await send(site, "__name__,n\none,1\n", name: "t.csv", collection: "books")
            let page = try await site.page(try #require(response.headers[.location]))
            // The form is kept for the next attempt.
            #expect(try page.one("//input[@id='collection']")["value"] == "books")
            let button = try page.one("//button[@name='upload']")
            let done = await site.post("/admin/import", "upload=\(try #require(button["value"]))")
            #expect(done.headers[.location] == "/admin/data/books")
            #expect(done.headers[.setCookie]?.hasPrefix("flash=imported.1;") == true)
            let path = try DocumentPath("books/one")
            #expect(try await site.store.document(at: path)?.decoded().fields == ["n": .integer(1)])
        }
    }

    @Test(
        arguments: [
            (["b/1", "b/2"], "/admin/data/b", []),
            (["b/1/c/1", "b/1", "a/1"], nil, ["/admin/data/a", "/admin/data/b", "/admin/data/b/1/c"]),
        ] as [([String], String?, [String])]
    )
    func `An import leads to the collection that it wrote, or to links to several`(
        paths: [String],
        destination: String?,
        links: [String]
    ) async throws {
        try await TestSite.with { site in
            let response = try await send(site, paths.map { "{\"path\":\"\($0)\",\"fields\":{}}" }.joined(separator: "\n"))
            let (_, form) = try await confirmation(site, response)
            let location = try #require(await site.post("/admin/import", form).headers[.location])
            if let destination {
                #expect(location == destination)
            } else {
                let page = try await site.page(location)
                #expect(page.parseErrors == [])
                #expect(try page.all("//section[@aria-labelledby='written']//a").map { $0["href"] } == links)
            }
        }
    }

    private static let two = "{\"path\":\"a/1\",\"fields\":{\"n\":2}}\n{\"path\":\"a/2\",\"fields\":{}}\n"

    @Test(arguments: ["replace", "keep"])
    func `The preview counts new, existing and duplicate documents`(choice: String) async throws {
        let path = try DocumentPath("a/1")
        try await TestSite.with([.create(path, ["n": .integer(1)])]) { site in
            let response = try await send(site, Self.two + "\n{\"path\":\"a/2\",\"fields\":{\"second\":true}}")
            let (page, form) = try await confirmation(site, response)
            let text = try page.one("//section").text
            #expect(text.contains("1 document is new. 1 document already exists."))
            #expect(try page.texts("//ul[@id='repeated']/li/code") == ["lines 2 and 4"])
            let done = await site.post("/admin/import", "\(form)&existing=\(choice)")
            #expect(try await site.store.document(at: path)?.decoded().fields == ["n": .integer(choice == "keep" ? 1 : 2)])
            let second = try await site.store.document(at: try DocumentPath("a/2"))?.decoded().fields
            #expect(second == (choice == "keep" ? [:] : ["second": .boolean(true)]))
            guard choice == "keep" else { return }
            let result = try await site.page(try #require(done.headers[.location]))
            #expect(try result.one("//p[@class='job-count']").text == "1 document imported")
            #expect(try result.one("//*[@id='main']").text.contains("2 documents already existed and were left unchanged."))
        }
    }

    @Test
    func `Submitting the confirmation twice imports the file once and redirects to the same job`() async throws {
        try await TestSite.with { site in
            let (_, form) = try await confirmation(site, try await send(site, Self.two))
            async let one = site.post("/admin/import", form)
            async let other = site.post("/admin/import", form)
            let locations = try await [one, other].map { try #require($0.headers[.location]) }
            #expect(locations.contains("/admin/data/a"))
            #expect(locations.contains { $0.hasPrefix("/admin/jobs/") })
            #expect(try await site.store.safePosition().lastSequence == SequenceNumber(1))
        }
    }

    @Test
    func `The preview reports when duplicates are checked only partly`() async throws {
        try await TestSite.with { site in
            let lines = [1, 2, 3, 3, 1].map { "{\"path\":\"a/\($0)\",\"fields\":{}}\n" }.joined()
            let upload = UploadStore.Upload(
                id: "u",
                owner: "anybody",
                database: site.pages.context.databaseName,
                file: try await UploadedFile.make(Array(lines.utf8), name: "x.ndjson"),
                options: ImportOptions()
            )
            for (limit, repeated) in [(2, 1), (3, 2)] {
                let job = BackgroundJob(
                    .checking,
                    of: "x.ndjson",
                    in: .standard,
                    id: "w",
                    for: Principal(caller: .openAccess),
                    returnURL: "/",
                    at: .current(),
                    errors: .silent
                )
                let preview = try await ImportPreview.make(
                    of: upload,
                    in: site.pages.context,
                    for: job,
                    beginningWith: ImportPreview(maximumTrackedPaths: limit)
                )
                #expect(preview.exceedsTrackedPaths == (limit == 2))
                #expect(preview.duplicates.count == repeated)
                let previewed = PreviewedUpload(upload, preview)
                #expect((previewed.trackedPathsText != nil) == (limit == 2))
            }
        }
    }

    @Test
    func `The page of an import does not show the message of an internal error, but the ID of its log entry`() async throws {
        let ids = ["a", "b"].map { String(repeating: $0, count: 600) }
        try await TestSite.with(try ids.map { try .set(DocumentPath("books/\($0)"), [:]) }) { site in
            let folder = site.folder.appending(path: "documents/books")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            // The shortened name of one document, with the contents of another one.
            try Data(contentsOf: folder.appending(path: names[1])).write(to: folder.appending(path: names[0]))
            let response = try await send(site, #"{"path":"books/\#(ids[0])","fields":{}}"#)
            let page = try await site.page(try #require(response.headers[.location]))
            #expect(page.parseErrors == [])
            #expect(page.source.contains("Internal server error. The server log has the cause under error.id "))
            #expect(!page.source.contains("contains another document"))
        }
    }

    @Test
    func `An upload is kept when its import cannot be started`() async throws {
        try await TestSite.with { site in
            let (_, form) = try await confirmation(site, try await send(site, Self.two))
            let (signal, continuation) = AsyncStream<Never>.makeStream()
            let jobs = (0..<2).map { number in
                BackgroundJob(
                    .importing,
                    of: "x.ndjson",
                    in: .standard,
                    id: UTF8Key("w\(number)"),
                    for: Principal(caller: .openAccess),
                    returnURL: "/",
                    at: .current(),
                    errors: .silent
                )
            }
            for job in jobs {
                try site.pages.jobRunner.start(job) { _ throws(StatusError) in for await _ in signal {} }
            }
            let rejected = await site.post("/admin/import", form)
            #expect(rejected.status == .tooManyRequests)
            #expect(try HTMLPage(rejected.body).all("//button[@name='upload']").count == 1)
            continuation.finish()
            for job in jobs { await job.wait(atMost: .seconds(600)) }
            let again = await site.post("/admin/import", form)
            #expect(again.status == .seeOther)
            #expect(try await site.store.document(at: try DocumentPath("a/1")) != nil)
        }
    }

    @Test
    func `A file that exceeds the size limit is rejected on the form`() async throws {
        try await TestSite.with { site in
            let response = try await send(site, String(repeating: "x", count: 5_000), limit: 4_000)
            #expect(response.status == .contentTooLarge)
            let errors = try HTMLPage(response.body).texts("//p[@id='file-error']")
            #expect(errors.count == 1)
        }
    }

    @Test
    func `A file that exceeds the quota is rejected on the form`() async throws {
        try await TestSite.with { site in
            var request = PageRequest(method: .post, path: "/admin/import")
            request.upload = .failure(.quotaExceeded)
            let response = await site.pages.response(to: request)
            #expect(response.status == .tooManyRequests)
            let errors = try HTMLPage(response.body).texts("//p[@id='file-error']")
            #expect(errors.count == 1)
        }
    }

    @Test
    func `The total size of a multipart form is limited`() async throws {
        try await TestSite.with { site in
            var receiver = try #require(
                UploadReceiver(
                    contentType: "multipart/form-data; boundary=XX",
                    to: site.pages.uploads,
                    of: "anybody",
                    fileLimit: 1_000
                )
            )
            try await receiver.append(Array("--XX--\r\n".utf8))
            var sentBytes = 0
            await #expect(throws: UploadReceiver.Failure.self) {
                while sentBytes < 1 << 30 {
                    try await receiver.append([UInt8](repeating: 0, count: 4_096))
                    sentBytes += 4_096
                }
            }
            #expect(sentBytes < receiver.maximumBytes)
        }
    }

    @Test
    func `Shutdown cancels running jobs, reports that and rejects new ones`() async throws {
        try await TestSite.with { site in
            let (reached, reach) = AsyncStream<Void>.makeStream()
            let job = BackgroundJob(
                .importing,
                of: "x.ndjson",
                in: site.pages.context.databaseName,
                id: "w",
                for: Principal(caller: .openAccess),
                returnURL: "/",
                at: .current(),
                errors: .silent
            )
            try site.pages.jobRunner.start(job) { job throws(StatusError) in
                reach.yield()
                while !job.isCancelled { await Task.yield() }
                job.update { $0.completedCount = 7 }
            }
            for await _ in reached { break }
            await site.pages.shutDown()
            #expect(job.progress.isFinished)
            #expect(job.progress.completedCount == 7)
            let page = try await site.page("/admin/jobs/w")
            #expect(try page.one("//div[@class='alert']").text.contains("The server shut down. Changes made so far are kept."))
            let address = try #require(try await send(site, Self.two).headers[.location])
            #expect(await site.get(address).status == .serviceUnavailable)
        }
    }

    @Test
    func `Unused uploads expire`() async throws {
        let clock = Mutex(ContinuousClock.now)
        let clockTime = { @Sendable in clock.withLock { $0 } }
        let uploads = UploadStore(folder: "", now: clockTime)
        let upload = UploadStore.Upload(
            id: "1",
            owner: "v",
            database: .standard,
            file: try await .make([1], name: "x"),
            options: ImportOptions()
        )
        #expect(uploads.add(upload))
        #expect(uploads.upload("1", for: "w", in: .standard) == nil)
        clock.withLock { $0 += UploadStore.idleTimeout - .seconds(1) }
        uploads.removeExpired()
        #expect(uploads.upload("1", for: "v", in: .standard) != nil)
        clock.withLock { $0 += UploadStore.idleTimeout }
        uploads.removeExpired()
        #expect(uploads.upload("1", for: "v", in: .standard) == nil)
    }

    @Test(arguments: [("", ""), ("x", "a/b")])
    func `A form without a file or with an invalid collection is rejected`(file: String, collection: String) async throws {
        try await TestSite.with { site in
            let response = try await send(site, file, collection: collection)
            #expect(response.status == .unprocessableContent)
        }
    }
}
