import DocumentModel
import HTTPTypes
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Thumbnails of images")
struct ImageOriginsTests {
    private static let allowed = ["https://images.example.org", "HTTP://127.0.0.1:8081", "https://cdn.example.org:443"]

    private static func allows(_ url: String) throws -> Bool {
        ImageOrigins(allowed).allowsImage(of: try #require(ExternalLink(url)))
    }

    @Test(
        arguments: [
            "https://images.example.org/a.png", "HTTPS://Images.Example.org:443/a/b.JPG?x=1#y", "http://127.0.0.1:8081/a.webp",
            "https://cdn.example.org/a%20b.svg?alt=media", "https://cdn.example.org:443/a.jpeg",
            "https://images.example.org/.gif/a.avif",
        ]
    )
    func `Images at allowed origins are shown`(url: String) throws {
        #expect(try Self.allows(url))
    }

    @Test(
        arguments: [
            "http://images.example.org/a.png", "https://images.example.org:8443/a.png", "https://example.org/a.png",
            "https://images.example.org.evil.example/a.png", "https://evil.example/images.example.org/a.png",
            "https://evil.example/?https://images.example.org/a.png", "https://images.example.org./a.png",
            "http://127.0.0.1/a.png", "https://127.0.0.1:8081/a.png", "https://images.example.org/a",
            "https://images.example.org",
            "https://images.example.org/a.png.html", "https://images.example.org/a?b.png", "https://images.example.org/#b.png",
        ]
    )
    func `Other links stay links`(url: String) throws {
        #expect(try !Self.allows(url))
    }

    @Test
    func `By default, no image is shown, and only the server's own are allowed`() async throws {
        #expect(ImageOrigins([]).sources == [])
        let fields: MapValue = ["cover": .string("https://images.example.org/a.png")]
        try await TestSite.with([.set(DocumentPath("books/a"), fields)]) { site in
            for address in ["/admin/data/books", "/admin/data/books/a"] {
                let response = await site.get(address)
                let page = try HTMLPage(response.body)
                #expect(try page.all("//main//img").isEmpty)
                #expect(response.headers[.contentSecurityPolicy]?.contains("img-src 'self' data:;") ?? false)
            }
        }
    }

    @Test
    func `Images of allowed origins are loaded late, without a referrer and in a fixed size`() async throws {
        let fields: MapValue = [
            "cover": .string("https://images.example.org/a.png?x=1&y=%22"), "other": .string("https://other.example.org/a.png"),
            "script": .string("javascript:alert(1)//a.png"),
            "sizes": .map(["small": .string("https://images.example.org/s.png")]),
        ]
        try await TestSite.with([.set(DocumentPath("books/a"), fields)]) { site in
            site.pages.allowImages(from: ["https://images.example.org"])
            for (address, size) in [("/admin/data/books", "24"), ("/admin/data/books/a", "96")] {
                let response = await site.get(address)
                let policy = try #require(response.headers[.contentSecurityPolicy])
                #expect(policy.contains("img-src 'self' data: https://images.example.org;"))
                #expect(policy.contains("default-src 'none'"))
                let page = try HTMLPage(response.body)
                #expect(page.parseErrors == [])
                let images = try page.all("//main//img")
                #expect(
                    images.map { $0["src"] } == [
                        "https://images.example.org/a.png?x=1&y=%22", "https://images.example.org/s.png",
                    ]
                )
                #expect(try page.all("//main//a[@class='external'][img]").map { $0["href"] } == images.map { $0["src"] })
                for image in images {
                    #expect(image["alt"] == "Image")
                    #expect(image["loading"] == "lazy")
                    #expect(image["referrerpolicy"] == "no-referrer")
                    #expect(image["width"] == size)
                    #expect(image["width"] == image["height"])
                }
            }
            site.pages.allowImages(from: [])
            #expect(try await site.page("/admin/data/books/a").all("//main//img").isEmpty)
        }
    }
}
