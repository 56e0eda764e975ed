import DocumentModel
import HearthAPI
import HearthHTTP
import NIOCore
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Live updates")
struct LiveUpdateTests {
    @Test
    func `A page has the URL of the stream for its query`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            for (address, item) in [
                ("/admin/data/books", "/admin/data/books?live="),
                ("/admin/data/books?order=-title&size=25", "/admin/data/books?order=-title&size=25&live="),
                ("/admin/data/books?where=numberOfPages%20%3E%20200", "/admin/data/books?where=numberOfPages%20%3E%20200&live="),
                ("/admin/data/books/hitchhiker", "/admin/data/books/hitchhiker?live="),
            ] {
                let page = try await site.page(address)
                let live = try page.one("//*[@id='live']")
                #expect(live["data-stream"]?.hasPrefix(item) == true)
                #expect(try page.all("//table[@data-live]/tbody/tr[@data-key]").count > 3)
            }
        }
    }

    @Test
    func `The stream URL of a table has its columns`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            for (query, columns) in [
                (
                    "?where=numberOfPages%20%3E%20800",
                    "&columns=all&column=string%3Aauthor&column=string%3Acolor&column=map%3Acover"
                        + "&column=string%3A%60field-doesnt-exist-in-struct%60&column=array%3Agenres"
                        + "&column=integer%3AnumberOfPages&column=array%3Atags&column=string%3Atitle"
                ),
                ("?cols=cover.small&cols=missing", "&columns=chosen&column=string%3Acover.small&column=%3Amissing"),
            ] {
                let live = try await site.page("/admin/data/books" + query).one("//*[@id='live']")
                #expect(live["data-stream"]?.contains(columns) == true)
                #expect(live["data-stream"]?.contains("cols=") == false)
            }
        }
    }

    @Test(arguments: ["", "&where=n%20%3E%3D%200"])
    func `Every page of a collection has a stream`(query: String) async throws {
        let writes = try (100..<180).map { try Write.create(DocumentPath("many/d\($0)"), ["n": .integer(Int64($0))]) }
        try await TestSite.with(writes) { site in
            var next = "/admin/data/many?size=25" + query
            for place in ["first", "next", "next", "prev", "prev"] {
                let page = try await site.page(next)
                let address = try #require(try page.one("//*[@id='live']")["data-stream"])
                let stream = await site.get(address)
                #expect(stream.live != nil, "the \(place) page's \(address)")
                let link = try page.all("//a[@rel='\(place == "prev" ? "prev" : "next")']").first?["href"]
                next = try #require(link)
            }
        }
    }

    @Test(
        arguments: [
            (StatusCode.unavailable, "en", "The server is overloaded."),
            (.unavailable, "id", "Server kelebihan beban."),
            (.resourceExhausted, "en", "There are too many documents for live updates."),
            (.dataLoss, "en", "A file here can’t be read."),
            (.internal, "en", "The server couldn’t continue the live updates."),
        ]
    )
    func `A failed stream reports the reason in the language of the page`(
        code: StatusCode,
        language: String,
        text: String
    ) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page("/admin/data/books?order=title&size=25")
            let address = try #require(try page.one("//*[@id='live']")["data-stream"])
            let live = try #require(await site.get(address, acceptLanguage: language).live)
            var buffer = ByteBuffer()
            live.events.write(StatusError(code, "12 queries are running.").rpcError, to: &buffer)
            #expect(String(buffer: buffer) == "event: failed\ndata: {\"reason\":\"\(text)\"}\n\n")
        }
    }

    @Test(arguments: ["/admin/", "/admin/query", "/rpc/docs"])
    func `Pages without documents have no stream`(address: String) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page(address)
            #expect(try page.all("//*[@id='live']").isEmpty)
        }
    }
}
