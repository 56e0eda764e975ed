import Foundation
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("Queries of the admin pages as commands and code", .timeLimit(.minutes(10)))
struct QueryPageTests {
    /// A query with every type of value that a filter can have, and text that shells, Python and HTML treat specially.
    private static let query = #"""
        {"collection": "books", "where": {"or": [
            {"field": "author", "op": "==", "value": "Peter"}, {"field": "a", "op": "==", "value": null},
            {"field": "b", "op": "in", "value": [true, -1, 2.5, {"$double": "NaN"}, {"$double": "-Infinity"}]},
            {"field": "`c d`.e", "op": "==", "value": "' \" \\ $HOME `id` <b> & \u200b\ud83d\ude00\n"},
            {"field": "f", "op": ">", "value": {"$timestamp": "1960-02-29T08:00:09.250000Z"}},
            {"field": "g", "op": "==", "value": {"$geoPoint": {"latitude": 53.5, "longitude": -10.0}}},
            {"field": "h", "op": "==", "value": {"$bytes": "AP8="}}, {"field": "i", "op": "==", "value": {"$vector": [1.0, 0.5]}},
            {"field": "j", "op": "==", "value": {"$reference": "books/hitchhiker"}},
            {"field": "k", "op": "==", "value": {"x": [1, {"y": []}]}}, {"field": "l", "op": "array-contains", "value": 1},
            {"field": "m", "op": "array-contains-any", "value": [1, 2]}
        ]}, "orderBy": [{"field": "f"}, {"field": "title", "direction": "desc"}], "offset": 0, "limit": 10}
        """#

    private func encoded(_ text: String) -> String {
        text.utf8.map { "%" + String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
    }

    /// Returns the text of an element of a page.
    private func text(of id: String, in page: String) throws -> String {
        let start = try #require(page.range(of: "<pre id=\"\(id)\""))
        let content = try #require(page.range(of: ">", range: start.upperBound..<page.endIndex))
        let end = try #require(page.range(of: "</pre>", range: content.upperBound..<page.endIndex))
        var text = String(page[content.upperBound..<end.lowerBound])
        let entities = [
            ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#34;", "\""), ("&#39;", "'"), ("&#61;", "="), ("&#96;", "`"),
            ("&amp;", "&"),
        ]
        for (entity, character) in entities { text = text.replacingOccurrences(of: entity, with: character) }
        return text
    }

    @Test
    func `The curl command returns the documents on the page`() async throws {
        try await withServer { server in
            #expect(try await hearth("example", "load", "guide", "--server", server.address).status == .code(0))
            let items =
                "in=books&m=any&g=0&f=author&op=%3D%3D&t=string&v=Peter&g=0&f=title&op=prefix&t=string&v=The+U&o=title&d=desc&p="
            let page = try await shell("curl -sS --fail '\(server.address)/admin/query?\(items)'")
            #expect(page.status == .code(0))
            let command = try text(of: "call-curl", in: page.output.joined(separator: "\n"))
            #expect(command.hasPrefix("curl \(server.address)/rpc "))
            let answer = try await shell(command)
            let documents = try JSONText(answer.output.joined(separator: "\n")).root["result"]?["documents"]?.elements
            let paths = documents?.compactMap { $0["path"]?.string }
            #expect(paths == ["books/hitchhiker", "books/invalid-data"])
        }
    }

    @Test
    func `The commands and the Python code of a query with all types of values are valid`() async throws {
        try await withServer { server in
            let page = try await shell("curl -sS --fail '\(server.address)/admin/query?query=\(encoded(Self.query))'")
            #expect(page.status == .code(0), "\(page)")
            let source = page.output.joined(separator: "\n")
            let answer = try await shell(text(of: "call-curl", in: source))
            #expect(try JSONText(answer.output.joined(separator: "\n")).root["result"]?["documents"] != nil, "\(answer)")
            try await withTemporaryFolder { folder in
                let file = folder.appendingPathComponent("query.py")
                try text(of: "code-python", in: source).write(to: file, atomically: true, encoding: .utf8)
                let compiled = try await shell("python3 -m py_compile '\(file.path)'")
                #expect(compiled.status == .code(0), "\(compiled)")
            }
        }
    }
}
