import DocumentModel
import DocumentStore
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Hostile values in forms")
struct HostileFormTests {
    @Test(arguments: HostileValueTests.texts)
    func `Values in form fields and error messages are never interpreted as markup`(text: String) async throws {
        let name = UTF8Key(text.truncated(toScalars: 300).text)
        let fields: MapValue = [name: .string(text), "m": .map([name: .array([.string(text)])])]
        let path = try DocumentPath("hostile/value")
        try await TestSite.with([.create(path, fields)]) { site in
            _ = try await site.store.commit([.set(path, ["x": .string(text)])])
            _ = try await site.store.commit([.set(path, fields)])
            for address in ["?edit", "?edit=json", "?history", "?delete"] {
                let page = try await site.page("/admin/data/hostile/value\(address)")
                try check(page, address)
                for line in page.source.utf8.split(separator: UInt8(ascii: "\n")) {
                    let marks = DisplayText(String(Substring(line))).runs.compactMap(\.mark).filter {
                        ![" ", "\t"].contains($0.scalar)
                    }
                    #expect(marks == [], "\(address)")
                }
            }
            let encoded = text.utf8.map { "%" + String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
            for (address, form) in [
                ("/admin/data/hostile/value?edit", "as=json&json=\(encoded)&base=&do=save"),
                ("/admin/data/hostile?new", "id=\(encoded)%2F&as=json&json=%7B%7D&do=save"),
                ("/admin/?new", "collection=\(encoded)%2Fa"),
                ("/admin/settings", "do=create&collection=\(encoded)%2F&fields=\(encoded)"),
                ("/admin/data/hostile?delete", "name=\(encoded)"), ("/admin/data/hostile/value?restore", "version=\(encoded)"),
            ] {
                let response = await site.post(address, form)
                // The input is shown again unchanged, but browsers cannot send NUL.
                guard response.status != .seeOther, !text.utf8.contains(0) else { continue }
                try check(try HTMLPage(response.body), "\(address) \(form)")
            }
        }
    }

    private func check(_ page: HTMLPage, _ comment: String) throws {
        #expect(page.parseErrors == [], "\(comment)")
        #expect(try page.all("//script").allSatisfy { $0["src"]?.hasPrefix("/admin/assets/") == true && $0.text.isEmpty })
        #expect(try page.all("//img").count == 1)
        #expect(try page.all("//iframe|//object|//embed|//base|//b").isEmpty)
        for form in try page.all("//form") { #expect(form["action"]?.utf8.starts(with: "/admin/".utf8) == true) }
        let handlers = try page.all("//*").flatMap { $0.attributes.map(\.name) }.filter {
            $0.hasPrefix("on") || $0 == "style" || $0 == "srcdoc"
        }
        #expect(handlers == [])
    }
}
