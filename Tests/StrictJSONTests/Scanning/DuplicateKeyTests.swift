import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("Duplicate keys are detected by their unescaped bytes")
struct DuplicateKeyTests {
    /// The error of parsing an object with these keys, which are inserted without escaping.
    private func error(_ keys: [String]) -> JSONSyntaxError? {
        let text = "{" + keys.map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        do {
            _ = try JSONText(text)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            ("a", "a", "a"),
            ("a", #"\u0061"#, "a"),
            (#"\u0061"#, "a", "a"),
            (#"\u0061"#, #"\u0061"#, "a"),
            (#"\u00E9"#, "\u{e9}", "\u{e9}"),
            (#"\ud83e\uDDA6"#, "\u{1f9a6}", "\u{1f9a6}"),
            (#"\/"#, "/", "/"),
            (#"\n"#, #"\u000a"#, "\n"),
            ("", "", ""),
        ]
    )
    func `Keys that are equal after unescaping are duplicates`(first: String, second: String, key: String) {
        #expect(error([first, second])?.reason == .duplicateKey(UTF8Key(key)))
        #expect(error([first, second])?.offset == first.utf8.count + 6)
    }

    @Test(
        arguments: [("\u{e9}", "e\u{301}"), ("K", "\u{212a}"), ("a", "A"), ("a", "a "), ("", #"\u0000"#), (#"\\u0061"#, "a")]
    )
    func `Canonically equivalent or similar keys are not duplicates`(first: String, second: String) {
        #expect(error([first, second]) == nil)
        #expect(error([second, first]) == nil)
    }

    @Test(arguments: [2, 3, 8, 9, 10, 33])
    func `A duplicate is detected at any position among any number of members`(count: Int) {
        let ascending = (0..<count).map { "key\($0 + 100)" }
        let escaped = ascending.map { #"\u006b"# + $0.dropFirst() }
        var generator = SeededGenerator()
        for names in [ascending, ascending.reversed(), escaped, ascending.shuffled(using: &generator)] {
            #expect(error(names) == nil)
            for first in 0..<count {
                let second = Int.random(in: 0..<count, using: &generator)
                guard first < second else { continue }
                var repeated = names
                repeated[second] = names[first]
                let offset = 1 + repeated[..<second].reduce(0) { $0 + $1.utf8.count + 5 }
                #expect(error(repeated)?.offset == offset, "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)")
            }
        }
    }

    @Test
    func `The same key in another object is not a duplicate`() throws {
        _ = try JSONText(#"{"a":{"a":{"a":[{"a":1},{"a":2}]}},"b":{"a":1}}"#)
    }

    @Test
    func `The hash table is cleared between large objects`() throws {
        let object = "{" + (0..<50).reversed().map { "\"\($0)\":{}" }.joined(separator: ",") + "}"
        #expect(try JSONText("[\(object),\(object),{\"x\":\(object)}]").root.count == 3)
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["k", #"\u006b"#])
    func `Parsing an object of 100,000 keys takes linear time`(prefix: String) {
        var names = (0..<100_000).map { prefix + String($0) }
        #expect(error(names) == nil)
        names[99_999] = "k5"
        #expect(error(names)?.reason == .duplicateKey("k5"))
    }
}
