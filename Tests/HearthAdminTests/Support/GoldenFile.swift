import Foundation
import Testing

/// Golden files of pages. `HEARTH_UPDATE_GOLDEN=1` rewrites them for review.
enum GoldenFile {
    private static let isUpdating = ProcessInfo.processInfo.environment["HEARTH_UPDATE_GOLDEN"] == "1"
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Golden")

    /// Compares the main content of a page with its golden file, line by line.
    static func check(_ page: HTMLPage, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let main = try #require(page.source.firstMatch(of: main)?.output, sourceLocation: sourceLocation)
        try check(main + "\n", name, sourceLocation: sourceLocation)
    }

    /// Compares the layout of a page, without its main content, with its golden file.
    static func checkLayout(of page: HTMLPage, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try check(Substring(page.source.replacing(main, with: "<main/>")), name, sourceLocation: sourceLocation)
    }

    private static func check(_ source: Substring, _ name: String, sourceLocation: SourceLocation) throws {
        let file = folder.appending(path: name)
        let found = stable(source)
        if isUpdating {
            try Data(found.utf8).write(to: file)
            return
        }
        let expected = try String(contentsOf: file, encoding: .utf8)
        if Array(expected.utf8) == Array(found.utf8) { return }
        let lines = (expected: lines(of: expected), found: lines(of: found))
        let shared = zip(lines.expected, lines.found).prefix { $0.elementsEqual($1) }.count
        let expectedLine = shared < lines.expected.count ? String(lines.expected[shared]) : "the end"
        let foundLine = shared < lines.found.count ? String(lines.found[shared]) : "the end"
        Issue.record(
            """
            The page differs from \(name) at line \(shared + 1). Run with HEARTH_UPDATE_GOLDEN=1 if it should.
            expected: \(expectedLine)
            found:    \(foundLine)
            """,
            sourceLocation: sourceLocation
        )
    }

    private static func lines(of text: String) -> [Substring.UTF8View] {
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    private static var main: some RegexComponent<Substring> { /<main .*<\/main>/.dotMatchesNewlines() }

    /// Replaces volatile content (digests, sizes, resume tokens) and the coastlines.
    private static func stable(_ source: Substring) -> String {
        String(source)
            .replacing(/v&#61;[0-9a-f]{16}/, with: "v&#61;DIGEST")
            .replacing(/[0-9,]+ [KMG]iB/, with: "N iB")
            .replacing(/live&#61;[A-Za-z0-9_-]{44}/, with: "live&#61;TOKEN")
            .replacing(/<defs>.*?<\/defs>/.dotMatchesNewlines(), with: "<defs/>")
    }
}
