import DocumentModel
import DocumentStore
import Foundation
import TestSupport
import Testing

@testable import HearthCLI

@Suite("Filter for git")
struct GitFilterTests {
    private static let hello =
        packets("git-filter-client\n", "version=2\n") + packets("capability=clean\n", "capability=smudge\n", "capability=delay\n")
    private static let answerToHello =
        packets("git-filter-server\n", "version=2\n") + packets("capability=clean\n", "capability=smudge\n")

    /// Returns packets and a flush packet.
    private static func packets(_ contents: String...) -> String {
        contents.map { content in
            let length = String(content.utf8.count + 4, radix: 16)
            return String(repeating: "0", count: 4 - length.count) + length + content
        }.joined() + "0000"
    }

    /// Runs the filter on a file of requests.
    private func answers(to requests: String, addsTimes: Bool = false) throws -> String {
        let folder = try TemporaryFolder()
        try folder.write(requests, to: "requests")
        try folder.write("", to: "answers")
        let file = try FileHandle(forWritingTo: URL(filePath: folder["answers"]))
        let output = BufferedOutput(descriptor: file.fileDescriptor, name: "answers")
        var filter = GitFilter(try InputFile(folder["requests"]), output, addsTimes: addsTimes)
        try filter.run()
        return try folder.text(of: "answers")
    }

    @Test func `Documents lose their times, and other text is left as it is`() throws {
        let file = #"{"b":1,"$document":{"createTime":"2024-01-01T00:00:00Z","updateTime":"2024-01-01T00:00:00Z"}}"#
        let requests =
            Self.packets("command=clean\n", "pathname=c/a.json\n")
            + Self.packets(String(file.prefix(5)), String(file.dropFirst(5)))
            + Self.packets("command=clean\n", "pathname=x\n") + Self.packets("no JSON")
            + Self.packets("command=clean\n", "pathname=empty\n") + Self.packets()
            + Self.packets("command=smudge\n", "pathname=c/a.json\n", "ref=refs/heads/main\n") + Self.packets(#"{"b":1}"#)
        let success = Self.packets("status=success\n")
        let expected =
            success + Self.packets("{\n  \"b\": 1\n}\n") + Self.packets() + success + Self.packets("no JSON") + Self.packets()
            + success + Self.packets() + Self.packets() + success + Self.packets(#"{"b":1}"#) + Self.packets()
        #expect(try answers(to: Self.hello + requests) == Self.answerToHello + expected)
    }

    @Test func `Large contents are sent in several packets`() throws {
        let text = String(repeating: "x", count: 100_000)
        let contents = Self.packets(String(text.prefix(65_516)), String(text.dropFirst(65_516)))
        let answers = try answers(to: Self.hello + Self.packets("command=clean\n", "pathname=x\n") + contents)
        #expect(answers == Self.answerToHello + Self.packets("status=success\n") + contents + Self.packets())
    }

    @Test func `In the folder of a server, documents get a time`() throws {
        let request = Self.packets("command=smudge\n", "pathname=c/a.json\n") + Self.packets(#"{"b":1}"#)
        let before = Timestamp.current()
        let answers = try answers(to: Self.hello + request, addsTimes: true)
        let text = try #require(answers.split(separator: "updateTime\": \"").last?.prefix(27))
        let time = try Timestamp(rfc3339: String(text))
        // Clocks of file systems are some milliseconds late.
        #expect(abs(time.microseconds - before.microseconds) < 60_000_000)
        let cleaned = GitFilter.clean(GitFilter.smudge(Array(#"{"b":1}"#.utf8), at: time))
        #expect(cleaned == Array("{\n  \"b\": 1\n}\n".utf8))
    }

    @Test func `A request that is not known fails`() throws {
        let answers = try answers(to: Self.hello + Self.packets("command=other\n") + Self.packets("x"))
        #expect(answers == Self.answerToHello + Self.packets("status=error\n"))
    }

    @Test(arguments: ["", "0000", "hello", "0003", "000ahello\n0000"])
    func `Input that is not that of git is rejected`(input: String) {
        #expect(throws: StatusError.self) { try answers(to: input) }
    }

    @Test func `Input that ends in a request is rejected`() {
        #expect(throws: StatusError.self) { try answers(to: Self.hello + "0012command=clean\n") }
        #expect(throws: StatusError.self) { try answers(to: Self.hello + Self.packets("command=clean\n") + "0010x") }
    }
}
