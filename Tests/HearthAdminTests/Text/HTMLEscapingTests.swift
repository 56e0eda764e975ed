import Foundation
import Testing

@testable import HearthAdmin

@Suite("HTML escaping")
struct HTMLEscapingTests {
    @Test(
        arguments: [
            ("plain", "plain"), ("<b>&\"'`=", "&lt;b&gt;&amp;&quot;&#39;&#96;&#61;"),
            ("\"\u{301} onfocus=x", "&quot;\u{301} onfocus&#61;x"),
            ("<\u{FE0F}script>", "&lt;\u{FE0F}script&gt;"), ("'\u{20DD}", "&#39;\u{20DD}"), ("&amp;", "&amp;amp;"), ("é", "é"),
            ("", ""),
        ]
    )
    func `HTML's special characters are escaped, even with combining marks`(text: String, escaped: String) {
        #expect(Array(HTMLEscaping().escapeText(text).utf8) == Array(escaped.utf8))
    }

    @Test
    func `Templates insert only markup unescaped`() throws {
        let folder = TestSite.repository.appending(path: "Templates").resolvingSymlinksInPath()
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".mustache") }
        #expect(names.count > 20)
        for name in names {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            let escaped = text.replacing(/\{\{\{(markup|[a-z][A-Za-z]*Markup)\}\}\}/, with: "")
            #expect(!escaped.contains("{{{") && !escaped.contains("{{&"), "\(name) has an unescaped tag")
            #expect(!text.contains(" style="), "\(name) has a style attribute")
            #expect(!text.contains(/\son[a-z]+=/), "\(name) has an event handler")
            #expect(!text.contains(/=\{\{/), "\(name) has an attribute without quotes")
        }
    }
}
