import DocumentModel
import HTTPTypes
import StrictJSON
import Testing

@testable import HearthAdmin

@Suite("Hostile values")
struct HostileValueTests {
    static let texts = [
        "<script>alert(1)</script>", "\"\u{301} onfocus=alert(1) autofocus \"", "' onmouseover='alert(1)",
        "</style><script>alert(1)</script>",
        "</title><script>alert(1)</script>", "--><script>alert(1)</script>", "javascript:alert(1)", "java\tscript:alert(1)",
        "data:text/html,<script>alert(1)</script>", "{{7*7}}{{{nonce}}}", "<\u{FE0F}img src=x onerror=alert(1)>",
        "\u{202E}\u{202D}\u{2066}",
        "#fff}body{display:none", "#fff\"><script>", "a\0b", "]]>", "&lt;script&gt;", "`${alert(1)}`", "\u{2028}\u{2029}", "<!--",
        "https://example.com/\"><script>alert(1)</script>", String(repeating: "<b>", count: 4_000),
        "x" + String(repeating: "\u{301}", count: 10_000),
    ]

    /// The attributes that elements of the pages may have.
    private static let attributes: Set<String> = [
        "alt", "aria-current", "aria-hidden", "aria-label", "aria-labelledby", "charset", "class", "colspan", "content", "d",
        "data-copy",
        "data-copy-from", "datetime", "defer", "dir", "fill-rule", "height", "hidden", "href", "id", "lang", "name", "nonce",
        "rel", "role", "scope",
        "src", "tabindex", "title", "transform", "type", "viewbox", "width", "x",
    ]

    private static func writes(_ text: String) throws(StatusError) -> [Write] {
        let inner: Value = .map([UTF8Key(key(text)): .string(text), "list": .array([.string(text)])])
        var writes: [Write] = [
            .create(
                try DocumentPath("hostile/value"),
                [UTF8Key(key(text)): .string(text), "inner": inner, "bytes": .bytes(Array(text.utf8))]
            )
        ]
        if let id = try? DocumentID(key(text)), let collection = try? CollectionID(key(text)) {
            let path = CollectionPath(parent: try DocumentPath("hostile/value"), id: collection).document(id)
            writes.append(.create(path, ["reference": .reference(path), "text": .string(text)]))
        }
        return writes
    }

    /// As much of a text as a field's name can have.
    private static func key(_ text: String) -> String {
        text.beginning(scalars: 300).text
    }

    @Test("Scripts, handlers and markup in names and values stay text", arguments: texts)
    func inert(text: String) async throws {
        try await TestSite.with(Self.writes(text)) { site in
            var addresses = [
                "/admin/data/hostile", "/admin/data/hostile?view=map", "/admin/data/hostile/value",
                "/admin/data/hostile/value?view=json",
            ]
            if let id = try? DocumentID(Self.key(text)), let collection = try? CollectionID(Self.key(text)) {
                let path = CollectionPath(parent: try DocumentPath("hostile/value"), id: collection).document(id)
                addresses += [
                    AdminURL.collection(path.collection), AdminURL.document(path), AdminURL.document(path) + "?view=json",
                ]
            }
            for address in addresses {
                let response = await site.get(address)
                #expect(response.status == .ok)
                let page = try HTMLPage(response.body)
                #expect(page.complaints == [], "\(address)")
                try Self.checkInert(page)
            }
        }
    }

    private static func checkInert(_ page: HTMLPage) throws {
        let scripts = try page.all("//script")
        #expect(scripts.count == 1)
        #expect(scripts.allSatisfy { $0["src"]?.hasPrefix("/admin/assets/admin.js?v=") == true && $0.text == "" })
        #expect(try page.all("//img").count == 1)
        #expect(try page.all("//iframe|//object|//embed|//base|//form|//b").isEmpty)
        for element in try page.all("//*") {
            for attribute in element.attributes { #expect(attributes.contains(attribute.name), "attribute \(attribute.name)") }
        }
        for link in try page.all("//a[@href]") {
            let target = try #require(link["href"])
            #expect(target.hasPrefix("/admin/") || target.hasPrefix("#") || target.hasPrefix("https://"), "\(target)")
        }
        for style in try page.all("//style") {
            #expect(style.text.split(separator: "\n").allSatisfy { $0.wholeMatch(of: /\.c-[0-9a-f]+\{[a-z0-9#:;-]+\}/) != nil })
        }
    }
}
