import Testing

@testable import HearthAdmin

@Suite("Differences of lines")
struct LineDiffTests {
    private func text(_ diff: LineDiff) -> [String] {
        diff.lines.map { line in
            switch line.kind {
            case .unchanged: " \(line.text)"
            case .removed: "-\(line.text)"
            case .added: "+\(line.text)"
            }
        }
    }

    @Test(
        arguments: [
            ("a\nb\nc\n", "a\nb\nc\n", [" a", " b", " c"]), ("a\nb\nc\n", "a\nc\n", [" a", "-b", " c"]),
            ("a\nc\n", "a\nb\nc\n", [" a", "+b", " c"]), ("a\nx\nc", "a\ny\nc", [" a", "-x", "+y", " c"]),
            ("", "a\n", ["+a"]), ("a\n", "", ["-a"]), ("", "", []), ("a\na\n", "a\n", [" a", "-a"]),
            ("a\nb\nc\nd\ne", "x\nb\nd\ny\ne", ["-a", "+x", " b", "-c", " d", "+y", " e"]),
            ("e\u{301}", "\u{e9}", ["-e\u{301}", "+\u{e9}"]),
        ]
    )
    func `A longest common subsequence of the lines is unchanged`(old: String, new: String, lines: [String]) {
        let found = text(LineDiff(from: old, to: new))
        #expect(found.map { Array($0.utf8) } == lines.map { Array($0.utf8) })
    }

    @Test
    func `Texts with too many lines to compare are replaced, except for common ones at both ends`() {
        let (old, new) = ((0..<3_000).map { "a\($0)" }, (0..<3_000).map { "b\($0)" })
        let diff = LineDiff(
            from: (["x"] + old + ["z"]).joined(separator: "\n"),
            to: (["x"] + new + ["z"]).joined(separator: "\n")
        )
        #expect(text(diff) == [" x"] + old.map { "-\($0)" } + new.map { "+\($0)" } + [" z"])
    }
}
