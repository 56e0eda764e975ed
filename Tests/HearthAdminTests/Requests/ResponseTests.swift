import DocumentModel
import HTTPTypes
import HearthAPI
import HearthHTTP
import HummingbirdCore
import NIOCore
import Testing

@testable import HearthAdmin

@Suite("Responses")
struct ResponseTests {
    @Test
    func `Pages have a Content-Security-Policy with the response's nonce and other security headers`() async throws {
        try await TestSite.with { site in
            let headers = await site.get("/admin/").headers
            #expect(
                headers[.contentSecurityPolicy] == """
                    default-src 'none'; script-src 'self'; style-src 'self' 'nonce-\(TestSite.nonce)'; img-src 'self' data:; \
                    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'
                    """
            )
            #expect(headers[.cacheControl] == "no-store")
            #expect(headers[.xContentTypeOptions] == "nosniff")
            #expect(headers[.crossOriginResourcePolicy] == "same-origin")
            for name in ["Referrer-Policy", "Cross-Origin-Opener-Policy"] {
                let name = try #require(HTTPField.Name(name))
                #expect(headers[name] == "same-origin")
            }
        }
    }

    @Test
    func `Nonces are long and unique`() {
        let nonces = (0..<100).map { _ in RandomToken.make() }
        #expect(Set(nonces).count == 100)
        #expect(nonces.allSatisfy { $0.utf8.count == 32 })
    }

    @Test(
        arguments: [
            ("/", "/admin/"), ("/admin", "/admin/"), ("/admin/data", "/admin/"),
            ("/admin/data/b%C3%BCcher/", "/admin/data/b%C3%BCcher"),
        ]
    )
    func `Alternative URLs redirect to the canonical URL`(address: String, location: String) async throws {
        try await TestSite.with { site in
            let response = await site.get(address)
            #expect(response.status == .temporaryRedirect)
            #expect(response.headers[.location] == location)
        }
    }

    @Test
    func `Static files are immutable under their versioned URL`() async throws {
        try await TestSite.with { site in
            let page = try await site.page("/admin/")
            let addresses = try page.texts("//link[@rel='stylesheet' or @rel='icon']/@href|//script/@src")
            #expect(addresses.count >= 4)
            for address in addresses {
                let response = await site.get(address)
                #expect(response.status == .ok)
                #expect(response.headers[.cacheControl] == "public, max-age=31536000, immutable")
                let tag = try #require(response.headers[.eTag])
                let again = await site.get(address, ifNoneMatch: "W/\"other\", \(tag)")
                #expect(again.status == .notModified)
                #expect(again.body.count == 0)
            }
            let unversioned = await site.get("/admin/assets/admin.css")
            #expect(unversioned.headers[.cacheControl] == "no-cache")
            #expect(unversioned.headers[.contentType] == "text/css; charset=utf-8")
        }
    }

    @Test(
        arguments: ["..%2FPackage.swift", "%2Fetc%2Fpasswd", "admin.css%00", "Admin.css", "."]
    )
    func `Only static files are served from the assets path`(name: String) async throws {
        try await TestSite.with { site in
            #expect(await site.get("/admin/assets/\(name)").status == .notFound)
        }
    }
}

@Suite("HTTP methods of pages")
struct PageMethodTests {
    private static let methods: [HTTPRequest.Method] = [
        .post, .put, .patch, .delete, .trace, HTTPRequest.Method("PROPFIND")!,
    ]

    @Test(arguments: methods)
    func `An unsupported method returns an error page and the supported methods`(method: HTTPRequest.Method) async throws {
        try await withClient { client in
            for address in [
                "/", "/admin", "/admin/", "/admin/data/books", "/admin/data/books/hitchhiker", "/admin/assets/admin.css",
            ] {
                let response = try await client.execute(address, method: method)
                #expect(response.status == .methodNotAllowed)
                #expect(response.headers[.allow] == "GET, HEAD, OPTIONS")
                #expect(response.headers[.contentType] == "text/html; charset=utf-8")
                #expect(response.headers[.contentSecurityPolicy]?.contains("'nonce-\(TestSite.nonce)'") == true)
                let page = try HTMLPage(Array(response.body.readableBytesView))
                #expect(try page.one("//h1").text == "Method not allowed")
            }
        }
    }

    @Test(arguments: [.get] + methods)
    func `An unknown path is not found for any method`(method: HTTPRequest.Method) async throws {
        try await withClient { client in
            let response = try await client.execute("/admin/nothing", method: method)
            #expect(response.status == .notFound)
            #expect(response.headers[.contentType] == "text/html; charset=utf-8")
        }
    }

    @Test
    func `OPTIONS returns the supported methods`() async throws {
        try await withClient { client in
            let response = try await client.execute("/admin/data/books", method: .options)
            #expect(response.status == .noContent)
            #expect(response.headers[.allow] == "GET, HEAD, OPTIONS")
        }
    }

    @Test
    func `HEAD returns the headers of GET without a body`() async throws {
        try await withClient { client in
            let page = try await client.execute("/admin/data/books", method: .get)
            let response = try await client.execute("/admin/data/books", method: .head)
            #expect(response.status == .ok)
            #expect(response.headers[.contentLength] == String(page.body.readableBytes))
            #expect(response.body.readableBytes == 0)
        }
    }

    @Test(arguments: ["/rpc", "/administrator", "/admin.css", "/x/admin/"])
    func `Other paths are left to other routes`(address: String) async throws {
        try await withClient { client in
            let response = try await client.execute(address, method: .get)
            #expect(response.status == .notFound)
            #expect(response.headers[.contentType] != "text/html; charset=utf-8")
        }
    }

    private func withClient(_ body: (RouteClient) async throws -> Void) async throws {
        try await TestSite.with(GuideData.writes()) { site in try await body(RouteClient(site.pages)) }
    }
}
