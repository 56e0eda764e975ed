import DocumentModel
import DocumentStore
import Foundation
import HTTPTypes
import Testing
import UTF8Text

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

    /// The allowed attributes, besides `aria-` and `data-` attributes.
    private static let attributes: Set<String> = [
        "action", "alt", "autocapitalize", "autocomplete", "charset", "checked", "class", "colspan", "content", "d", "datetime",
        "defer", "dir", "fill-rule", "font-size", "form", "formaction", "height", "hidden", "href", "id", "inputmode", "lang",
        "list", "max", "method", "min", "name", "nonce",
        "open", "placeholder", "rel", "role", "scope", "selected", "spellcheck", "src", "tabindex", "title", "transform", "type",
        "value", "viewbox", "width", "x", "y",
    ]

    private static func writes(_ text: String) throws(StatusError) -> [Write] {
        let inner: Value = .map([UTF8Key(key(text)): .string(text), "list": .array([.string(text)])])
        var writes: [Write] = [
            .create(
                try DocumentPath("hostile/value"),
                [UTF8Key(key(text)): .string(text), "inner": inner, "bytes": .bytes(Array(text.utf8))]
            )
        ]
        if let id = try? DocumentPath.ID(key(text)), let collection = try? CollectionID(key(text)) {
            let path = CollectionPath(parent: try DocumentPath("hostile/value"), id: collection).document(id)
            writes.append(.create(path, ["reference": .reference(path), "text": .string(text)]))
        }
        return writes
    }

    /// Truncates a string to the maximum length of a field name.
    private static func key(_ text: String) -> String {
        text.truncated(toScalars: 300).text
    }

    @Test(arguments: texts)
    func `Scripts, event handlers and markup in names and values are escaped`(text: String) async throws {
        try await TestSite.with(Self.writes(text)) { site in
            var addresses = [
                "/admin/data/hostile", "/admin/data/hostile?view=map", "/admin/data/hostile/value",
                "/admin/data/hostile/value?view=json",
                "/admin/data/hostile?view=json", "/admin/data/hostile?view=colors", "/admin/data/hostile?view=types",
                "/admin/data/hostile?f=a&op=%3D%3D&t=string&add=1&v=" + PercentEncoding.encode(UTF8Key(text)),
            ]
            if let id = try? DocumentPath.ID(Self.key(text)), let collection = try? CollectionID(Self.key(text)) {
                let path = CollectionPath(parent: try DocumentPath("hostile/value"), id: collection).document(id)
                addresses += [
                    AdminURL.collection(path.collection), AdminURL.document(path), AdminURL.document(path) + "?view=json",
                ]
            }
            for address in addresses {
                let response = await site.get(address)
                #expect(response.status == .ok)
                let page = try HTMLPage(response.body)
                #expect(page.parseErrors == [], "\(address)")
                try Self.checkInert(page)
            }
        }
    }

    /// Invisible and bidirectional control characters of every kind.
    static let invisible = [
        "\u{202E}", "\u{202D}", "\u{202A}", "\u{2066}", "\u{2067}", "\u{2069}", "\u{200E}", "\u{200F}", "\u{061C}", "\u{200B}",
        "\u{200D}", "\u{2060}", "\u{FEFF}", "\u{AD}", "\u{34F}", "\u{180E}", "\u{2028}", "\u{3164}", "\u{FE0F}", "\u{E0041}",
        "\u{E0101}", "\u{1D173}", "\u{1B}", "\u{7F}", "\u{85}", "\r", "\n",
    ]

    @Test(arguments: invisible)
    func `The source of pages has no invisible characters`(character: String) async throws {
        let text = "a\(character)txt.exe"
        let path = CollectionPath(parent: try DocumentPath("ids/top"), id: try CollectionID(text)).document(
            try DocumentPath.ID(text)
        )
        let place: Value = .geoPoint(try GeoPoint(validatingLatitude: 1, longitude: 2))
        let fields: MapValue = [
            UTF8Key(text): .string(text), "map": .map([UTF8Key(text): place]), "list": .array([.string(text), .reference(path)]),
            "long": .string(String(repeating: "\(text) ", count: 100)), "address": .string("https://example.com/\(text)"),
        ]
        try await TestSite.with([.create(path, fields), .create(try CollectionPath(text).document(path.id), fields)]) { site in
            let damaged = path.collection.document(try DocumentPath.ID("\(text)2"))
            _ = try await site.store.commit([.create(damaged, [:])])
            let folder = site.folder.appending(path: "documents/ids/top")
            let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.contains("exe2") }
            for file in files { try Data("{\"\(text)\": \(text)".utf8).write(to: folder.appending(path: file)) }
            #expect(files.count == 1)
            for address in [
                "/admin/", "/admin/data/ids/top", AdminURL.collection(path.collection) + "?view=types",
                AdminURL.collection(path.collection) + "?view=json",
                AdminURL.collection(path.collection) + "?order="
                    + PercentEncoding.encode(UTF8Key(try FieldPath(segments: [UTF8Key(text)]).description)),
                AdminURL.collection(path.collection) + "?where="
                    + PercentEncoding.encode(UTF8Key("list array-contains \"\(text)\"")),
                AdminURL.collection(path.collection) + "?where=" + PercentEncoding.encode(UTF8Key(text)),
                AdminURL.collection(path.collection), AdminURL.document(path),
                AdminURL.document(path) + "?view=json", AdminURL.collection(path.collection) + "?view=map",
                AdminURL.collection(path.collection) + "?size=25&after=" + PercentEncoding.encode(path.id.key),
                AdminURL.document(damaged), AdminURL.document(path) + "nothing",
                AdminURL.document(path) + "%2F",
                AdminURL.collection(path.collection) + "?after=" + PercentEncoding.encode(UTF8Key(text + "/")),
            ] {
                let source = try await site.page(address).source
                for line in source.utf8.split(separator: UInt8(ascii: "\n")) {
                    // Lines of markup may start or end with spaces.
                    let found = DisplayText(String(Substring(line))).runs.compactMap(\.mark).filter { $0.scalar != " " }
                    #expect(found == [], "in a line of \(address)")
                }
            }
        }
    }

    @Test(arguments: hostileIDs)
    func `The copy button copies the exact path`(id: String) async throws {
        let path = try CollectionPath("odd").document(try DocumentPath.ID(id))
        try await TestSite.with([.create(path, [:])]) { site in
            let button = try await site.page(AdminURL.document(path)).one("//*[h1]/button")
            let encoded = try #require(button["data-copy-encoded"])
            #expect(PercentEncoding.decode(encoded.utf8) == Array(path.string.utf8))
        }
    }

    private static func checkInert(_ page: HTMLPage) throws {
        let scripts = try page.all("//script")
        #expect(!scripts.isEmpty)
        #expect(scripts.allSatisfy { $0["src"]?.utf8.starts(with: AdminURL.assets.utf8) == true && $0.text == "" })
        #expect(try page.all("//img").count == 1)
        #expect(try page.all("//iframe|//object|//embed|//base|//b").isEmpty)
        for form in try page.all("//form") { #expect(form["action"]?.utf8.starts(with: "/admin/".utf8) == true) }
        for button in try page.all("//*[@formaction]") {
            #expect(button["formaction"]?.utf8.starts(with: "/admin/".utf8) == true)
        }
        let others = try page.all("//*").flatMap { $0.attributes.map(\.name) }
            .filter { !attributes.contains($0) && !$0.utf8.starts(with: "aria-".utf8) && !$0.utf8.starts(with: "data-".utf8) }
        #expect(others == [])
        for link in try page.all("//a[@href]") {
            let target = try #require(link["href"])
            #expect(
                target.hasPrefix("/admin/") || target.hasPrefix("/rpc/docs#") || target.utf8.elementsEqual("/rpc/docs".utf8)
                    || target.hasPrefix("#")
                    || target.hasPrefix("https://"),
                "\(target)"
            )
        }
        for style in try page.all("//style[not(parent::noscript)]") {
            #expect(style.text.split(separator: "\n").allSatisfy { $0.wholeMatch(of: /\.c-[0-9a-f]+\{[a-z0-9#:;-]+\}/) != nil })
        }
        for style in try page.all("//noscript/style") {
            let rule = /@supports selector\(:has\(\*\)\)\{|\.fields[a-z0-9:().+~\[\] -]+\{display:[a-z-]+\}|\}/
            #expect(style.text.split(separator: "\n").allSatisfy { $0.wholeMatch(of: rule) != nil })
        }
    }
}
