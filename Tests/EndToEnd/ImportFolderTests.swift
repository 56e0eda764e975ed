import Foundation
import TestSupport
import Testing
import UTF8Text

@Suite("hearth import into a new data folder", .timeLimit(.minutes(10)))
struct ImportFolderTests {
    private static let lines = [
        #"{"path":"books/a","fields":{"n":1},"createTime":"2001-02-03T04:05:06.000007Z","updateTime":"2002-02-03T04:05:06.000000Z"}"#,
        #"{"path":"books/a/reviews/r","fields":{"line":"\#u{2028}\#u{0}"},"createTime":"2003-01-01T00:00:00.000000Z","updateTime":"2003-01-01T00:00:00.000000Z"}"#
            .replacing("\u{0}", with: "\\u0000"),
        #"{"path":"ünder/ä b","fields":{},"createTime":"2003-01-01T00:00:00.000000Z","updateTime":"2003-01-01T00:00:00.000000Z"}"#,
    ]

    @Test func `Documents keep their times, and a server goes on from there`() async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appendingPathComponent("data")
            let imported = try await hearth("import", "--data", data.path, "-", input: Self.lines.joined(separator: "\n"))
            #expect(imported.status == .code(0) && imported.output == ["3 documents imported"], "\(imported)")
            let server = try await EndToEndServer(data: data)
            #expect(try await hearth("export", "--times", "--server", server.address).output == Self.lines)
            let found = try await hearth("query", #"{"collection":"books/a/reviews"}"#, "--server", server.address)
            #expect(found.output.count == 1, "\(found)")
            #expect(try await hearth("set", "books/a", #"{"n":2}"#, "--server", server.address).status == .code(0))
            let changed = try await hearth("get", "books/a", "--server", server.address).output.joined()
            #expect(changed.contains("2001-02-03T04:05:06.000007Z") && !changed.contains("2002"), "\(changed)")
            #expect(try await server.stop() == .code(0))
            #expect(try await hearth("check", "--data", data.path).status == .code(0))
        }
    }

    @Test func `Lines that don't fit are reported, and the others imported`() async throws {
        try await withTemporaryFolder { folder in
            let data = folder.path + "/data"
            let lines = [
                #"{"path":"a/future","fields":{},"updateTime":"2999-01-01T00:00:00Z"}"#,
                #"{"path":"a/order","fields":{},"createTime":"2002-01-01T00:00:00Z","updateTime":"2001-01-01T00:00:00Z"}"#,
                #"{"path":"a/text","fields":{},"createTime":"yesterday"}"#, #"{"path":"a/good","fields":{}}"#,
            ]
            let result = try await hearth("import", "--data", data, "-", input: lines.joined(separator: "\n"))
            #expect(result.status == .code(1) && result.output == ["1 document imported"], "\(result)")
            for (number, text) in [(1, "in the future"), (2, "after the update time"), (3, "Expected createTime to be a time")] {
                #expect(result.errors.contains { $0.contains(":\(number):") && $0.contains(text) }, "\(result)")
            }
            #expect(FileManager.default.fileExists(atPath: data + "/documents/a/good.json"))
            #expect(!FileManager.default.fileExists(atPath: data + "/documents/a/text.json"))
        }
    }

    @Test func `Nothing is overwritten, and nothing remains of an import that fails`() async throws {
        try await withTemporaryFolder { folder in
            let data = folder.path + "/data"
            #expect(try await hearth("import", "--data", data, "/nonexistent").status == .code(1))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
            #expect(try await hearth("import", "--data", data, "-", input: Self.lines[0]).status == .code(0))
            let again = try await hearth("import", "--data", data, "-", input: Self.lines[0])
            #expect(again.status == .code(1) && again.errorText.contains("is not empty"), "\(again)")
            let orphan = try await hearth("import", "--data", folder.path + "/none/data", "-", input: Self.lines[0])
            #expect(orphan.status == .code(1) && orphan.errorText.contains("parent folder must exist"), "\(orphan)")
        }
    }
}
