import DocumentModel
import Foundation
import HTTPTypes
import HearthService
import Hummingbird
import HummingbirdTesting
import Testing

@testable import HearthAdmin

@Suite("Responses")
struct ResponseTests {
    @Test("Pages carry a policy with this response's nonce, and the other guards")
    func headers() async throws {
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

    @Test("Nonces are long and never the same")
    func nonces() {
        let nonces = (0..<100).map { _ in Nonce.make() }
        #expect(Set(nonces).count == 100)
        #expect(nonces.allSatisfy { $0.utf8.count == 32 })
    }

    @Test(
        "Other addresses of the same page lead to its own",
        arguments: [
            ("/", "/admin/"), ("/admin", "/admin/"), ("/admin/data", "/admin/"),
            ("/admin/data/b%C3%BCcher/", "/admin/data/b%C3%BCcher"),
        ]
    )
    func redirects(address: String, location: String) async throws {
        try await TestSite.with { site in
            let response = await site.get(address)
            #expect(response.status == .temporaryRedirect)
            #expect(response.headers[.location] == location)
        }
    }

    @Test("Static files are kept for good under the address that pages use")
    func assets() async throws {
        try await TestSite.with { site in
            let page = try await site.page("/admin/")
            let addresses = try page.texts("//link[@rel='stylesheet' or @rel='icon']/@href|//script/@src")
            #expect(addresses.count >= 4)
            for address in addresses {
                let response = await site.get(address)
                #expect(response.status == .ok)
                #expect(response.headers[.cacheControl] == "public, max-age=31536000, immutable")
                let tag = try #require(response.headers[.eTag])
                let again = await site.get(address, knownTags: "W/\"other\", \(tag)")
                #expect(again.status == .notModified)
                #expect(again.body.count == 0)
            }
            let unversioned = await site.get("/admin/assets/admin.css")
            #expect(unversioned.headers[.cacheControl] == "no-cache")
            #expect(unversioned.headers[.contentType] == "text/css; charset=utf-8")
        }
    }

    @Test(
        "Nothing but the static files has an address below theirs",
        arguments: ["..%2FPackage.swift", "%2Fetc%2Fpasswd", "admin.css%00", "Admin.css", "."]
    )
    func traversal(name: String) async throws {
        try await TestSite.with { site in
            #expect(await site.get("/admin/assets/\(name)").status == .notFound)
        }
    }
}

@Suite("Methods of pages")
struct PageMethodTests {
    private static let methods: [HTTPRequest.Method] = [
        .post, .put, .patch, .delete, .trace, HTTPRequest.Method("PROPFIND")!,
    ]

    @Test(
        "Pages are only to look at: another method gives a page that says so, and the methods that there are",
        arguments: methods
    )
    func wrongMethod(method: HTTPRequest.Method) async throws {
        try await withRouter { client in
            for address in [
                "/", "/admin", "/admin/", "/admin/data/books", "/admin/data/books/hitchhiker", "/admin/assets/admin.css",
            ] {
                try await client.execute(uri: address, method: method) { response in
                    #expect(response.status == .methodNotAllowed)
                    #expect(response.headers[.allow] == "GET, HEAD, OPTIONS")
                    #expect(response.headers[.contentType] == "text/html; charset=utf-8")
                    #expect(response.headers[.contentSecurityPolicy]?.contains("'nonce-\(TestSite.nonce)'") == true)
                    let page = try HTMLPage(Array(response.body.readableBytesView))
                    #expect(try page.one("//h1").text == "Only to look at")
                }
            }
        }
    }

    @Test("An address without a page has none for any method", arguments: [.get] + methods)
    func unknown(method: HTTPRequest.Method) async throws {
        try await withRouter { client in
            try await client.execute(uri: "/admin/nothing", method: method) { response in
                #expect(response.status == .notFound)
                #expect(response.headers[.contentType] == "text/html; charset=utf-8")
            }
        }
    }

    @Test("OPTIONS tells the methods")
    func options() async throws {
        try await withRouter { client in
            try await client.execute(uri: "/admin/data/books", method: .options) { response in
                #expect(response.status == .noContent)
                #expect(response.headers[.allow] == "GET, HEAD, OPTIONS")
            }
        }
    }

    @Test("HEAD gives the headers of GET, and no body")
    func head() async throws {
        try await withRouter { client in
            let page = try await client.execute(uri: "/admin/data/books", method: .get)
            try await client.execute(uri: "/admin/data/books", method: .head) { response in
                #expect(response.status == .ok)
                #expect(response.headers[.contentLength] == String(page.body.readableBytes))
                #expect(response.body.readableBytes == 0)
            }
        }
    }

    @Test(
        "What isn't a page's address is left to the other routes",
        arguments: ["/rpc", "/administrator", "/admin.css", "/x/admin/"]
    )
    func others(address: String) async throws {
        try await withRouter { client in
            try await client.execute(uri: address, method: .get) { response in
                #expect(response.status == .notFound)
                #expect(response.headers[.contentType] != "text/html; charset=utf-8")
            }
        }
    }

    /// Runs `body` with a client of a router that has the pages and nothing else.
    private func withRouter(_ body: @escaping @Sendable (any TestClientProtocol) async throws -> Void) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let router = Router()
            site.pages.addRoutes(to: router) { _ in Visitor(caller: .anybody) }
            try await Application(router: router).test(.router, body)
        }
    }
}

@Suite("Templates and static files on disk")
struct AssetLocationTests {
    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hearth-assets-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.resolvingSymlinksInPath())
    }

    private func make(_ names: [String], in folder: URL) throws {
        for name in names {
            try FileManager.default.createDirectory(at: folder.appending(path: name), withIntermediateDirectories: true)
        }
    }

    @Test("They are found above the program, through a link to it")
    func aboveProgram() throws {
        try withFolder { folder in
            try make(["Templates", "Public", ".build/debug", "bin"], in: folder)
            let program = folder.appending(path: ".build/debug/hearth")
            try Data().write(to: program)
            let link = folder.appending(path: "bin/hearth")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: program)
            let location = try AssetLocation.find(program: link, installed: URL(filePath: "/nonexistent"))
            #expect(location.templates.path == folder.appending(path: "Templates").path)
            #expect(location.files.path == folder.appending(path: "Public").path)
        }
    }

    @Test("Otherwise they are where an installation puts them")
    func installed() throws {
        try withFolder { folder in
            try make(["Templates", "Public"], in: folder)
            let location = try AssetLocation.find(program: URL(filePath: "/nonexistent/hearth"), installed: folder)
            #expect(location.files.path == folder.appending(path: "Public").path)
        }
    }

    @Test("A folder named by the user must have both")
    func explicit() throws {
        try withFolder { folder in
            try make(["Templates"], in: folder)
            let error = #expect(throws: StatusError.self) { try AssetLocation.find(explicit: folder.path) }
            #expect(error?.message == "The folder \(folder.path) lacks Public, which hold Hearth's admin pages.")
        }
    }

    @Test("Without them the error names where they were looked for")
    func nowhere() throws {
        let program = URL(filePath: "/nonexistent/bin/hearth")
        let error = #expect(throws: StatusError.self) {
            try AssetLocation.find(program: program, installed: URL(filePath: "/nonexistent/share"))
        }
        #expect(error?.message.contains("/nonexistent/bin/hearth") == true)
        #expect(error?.message.contains("/nonexistent/share") == true)
    }

    @Test("Missing templates are named at start")
    func missingTemplates() throws {
        let catalogue = try TestSite.catalogue()
        try withFolder { folder in
            try Data("x".utf8).write(to: folder.appending(path: "overview.mustache"))
            let error = #expect(throws: StatusError.self) { try TemplateLibrary(folder: folder, catalogue: catalogue) }
            #expect(error?.message.contains("collection.mustache") == true)
            #expect(error?.message.contains("overview.mustache") == false)
        }
    }

    @Test("A broken template is named at start")
    func brokenTemplate() throws {
        let catalogue = try TestSite.catalogue()
        try withFolder { folder in
            try Data("{{#open}}".utf8).write(to: folder.appending(path: "overview.mustache"))
            let error = #expect(throws: StatusError.self) { try TemplateLibrary(folder: folder, catalogue: catalogue) }
            #expect(error?.message.contains("overview.mustache") == true)
        }
    }
}
