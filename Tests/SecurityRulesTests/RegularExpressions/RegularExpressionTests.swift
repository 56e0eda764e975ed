import TestSupport
import Testing
import UTF8Text

@testable import SecurityRules

/// The expected results are those of RE2.
@Suite("Regular expressions")
struct RegularExpressionTests {
    private func matches(_ pattern: String, _ text: String) throws -> Bool {
        var meter = Meter()
        return try RegularExpression(pattern).matchesWhole(UTF8Key(text), &meter)
    }

    @Test(
        arguments: [
            ("", ""), ("a", "a"), ("a|b", "b"), ("ab|", ""), ("(a|ab)(c|bcd)", "abcd"), ("a*", ""), ("a+", "aaa"), ("a?b", "b"),
            ("a{2}", "aa"), ("a{2,}", "aaaa"), ("a{1,3}", "aaa"), ("(?:ab){2}", "abab"), ("a{,2}", "a{,2}"), ("a{", "a{"),
            ("}", "}"),
            (".", "é"), (".", "😀"), ("(?s).", "\n"), ("[^a]", "\n"), ("[a-c]+", "abc"), ("[]a]+", "]a"), ("[^]a]", "b"),
            ("[a-]+", "-a"), ("[-a]+", "-a"), ("[a\\-c]+", "-"), ("[\\d.]+", "1.5"), ("[^\\d]", "x"),
            ("\\d\\D\\w\\W\\s\\S", "1a_- x"),
            ("[[:alpha:]]+", "aZ"), ("[[:^alpha:]]", "1"), ("[[:digit:][:punct:]]+", "1!"), ("\\pL+", "aéλ漢"), ("\\PL", "1"),
            ("\\p{Lu}", "É"), ("\\p{^Lu}", "é"), ("\\p{Greek}+", "λόγος"), ("\\P{Greek}", "a"), ("\\p{Han}+", "漢字"),
            ("\\p{Cherokee}", "Ꭰ"), ("\\p{Runic}+", "ᚠᚢ"), ("\\p{Old_Italic}", "𐌀"), ("\\p{Common}+", "1 +"),
            ("\\p{Inherited}", "\u{301}"), ("\\p{Tolong_Siki}", "\u{11DB0}"),
            ("\\p{Any}", "\u{10FFFF}"), ("[\\p{L}\\d]+", "é1"), ("\\x41\\x{1F600}\\101", "A😀A"),
            ("\\a\\f\\t\\n\\r\\v", "\u{7}\u{c}\t\n\r\u{b}"),
            ("\\.\\*\\\\\\_", ".*\\_"), ("\\Qa.b\\E+", "a.bbb"), ("\\Qa\\b", "a\\b"), ("^a$", "a"), ("\\Aa\\z", "a"),
            ("(?m)a$\n^b", "a\nb"),
            ("a\\b b", "a b"), ("a\\Bb", "ab"), ("(?i)abc", "AbC"), ("(?i)k", "\u{212A}"), ("(?i)s", "ſ"), ("(?i)σ", "ς"),
            ("(?i)é", "É"),
            ("(?i)[a-z]+", "ABC"), ("(?i:a)b", "Ab"), ("(?i)a(?-i)b", "Ab"), ("((?i)a)b", "Ab"), ("(?P<n>a)(?<m>b)", "ab"),
            ("(?U)a+", "aaa"), ("a+?", "aaa"), ("(a*)*", "aaa"), ("(a*)+", ""), ("(|a)+", "aa"),
            (".*@example[.]org", "a@example.org"),
            ("e\u{301}", "e\u{301}"), ("\\0", "\0"), ("(((a)))", "a"), ("a||b", ""),
        ]
    )
    func `A whole text matches`(pattern: String, text: String) throws {
        #expect(try matches(pattern, text))
    }

    @Test(
        arguments: [
            ("b", "abc"), ("a", ""), ("", "a"), (".", "\n"), ("a$", "a\n"), ("[^a]", "a"), ("a{2}", "a"), ("a{1,3}", "aaaa"),
            ("\\w", "é"),
            ("\\d", "٣"), ("é", "e\u{301}"), ("\\pL", "1"), ("\\p{Lu}", "a"), ("[[:alpha:]]", "é"), ("\\p{Greek}", "a"),
            ("\\p{^Any}", "a"),
            ("(?i)[^k]", "\u{212A}"), ("(?i)\\W", "ſ"), ("(?i)\\P{Lu}", "a"), ("a\\bb", "ab"), ("a^b", "ab"), ("(?i)ss", "ß"),
            ("abc", "ABC"),
            (".*@example[.]org", "a@example.org.evil.net"), ("(?-s).", "\n"), ("ı", "I"), ("(?i)ı", "I"),
        ]
    )
    func `A whole text does not match`(pattern: String, text: String) throws {
        #expect(try !matches(pattern, text))
    }

    @Test(
        arguments: [
            ("(", "missing )"), (")", "unexpected )"), ("a)", "unexpected )"), ("[a", "missing ]: [a"), ("[", "missing ]: ["),
            ("*", "no argument for repetition operator: *"), ("a|*", "no argument for repetition operator: *"),
            ("(+)", "no argument for repetition operator: +"), ("{2}", "no argument for repetition operator: {2}"),
            ("a**", "bad repetition operator: **"), ("a+*", "bad repetition operator: +*"),
            ("a*+", "bad repetition operator: *+"),
            ("a{2}{3}", "bad repetition operator: {2}{3}"), ("a{2,1}", "bad repetition operator: {2,1}"),
            ("a{1001}", "bad repetition operator: {1001}"), ("[z-a]", "invalid character class range: z-a"),
            ("[[:foo:]]", "invalid character class range: [:foo:]"), ("\\pX", "invalid character class range: \\\\pX"),
            ("\\p{Klingon}", "invalid character class range: \\\\p{Klingon}"), ("\\", "trailing \\"),
            ("\\1", "invalid escape sequence: \\\\1"), ("\\8", "invalid escape sequence: \\\\8"),
            ("\\y", "invalid escape sequence: \\\\y"),
            ("\\Z", "invalid escape sequence: \\\\Z"), ("\\C", "invalid escape sequence: \\\\C"),
            ("\\x{110000}", "invalid escape sequence: \\\\x{110000}"),
            ("\\xg", "invalid escape sequence: \\\\x"), ("[\\b]", "invalid escape sequence: \\\\b"),
            ("[a-\\d]", "invalid escape sequence: \\\\d"),
            ("(?=a)", "invalid or unsupported Perl syntax: (?="), ("(?!a)", "invalid or unsupported Perl syntax: (?!"),
            ("(?<=a)", "invalid named capture group"), ("(?<>a)", "invalid named capture group"),
            ("(?x)a", "invalid or unsupported Perl syntax: (?x"),
            ("(?i", "missing )"), ("(a{1000}){1000}", "expression too large"),
            ("((((a{9}){9}){9}){9}){9}", "expression too large"),
            ("(((){1000}){1000}){1000}", "expression too large"),
        ]
    )
    func `An invalid pattern is refused with the reason`(pattern: String, message: String) {
        let error = #expect(throws: RegularExpression.SyntaxError.self) { try RegularExpression(pattern) }
        #expect(error?.message == message)
    }

    @Test
    func `Deep nesting is refused`() {
        let pattern = String(repeating: "(", count: 5_000)
        #expect(throws: RegularExpression.SyntaxError(message: "expression nests too deeply")) { try RegularExpression(pattern) }
    }

    @Test(
        arguments: [
            ("b", "abcb", "a<>c<>"), ("a*", "baac", "<>b<>c<>"), ("a*", "aaa", "<>"), ("", "ab", "<>a<>b<>"),
            ("x*", "é😀", "<>é<>😀<>"),
            ("a|ab", "abab", "<>b<>b"), ("ab|a", "abab", "<><>"), ("a+?", "aa", "<><>"), ("a*?", "aa", "<>a<>a<>"),
            ("^", "ab", "<>ab"),
            ("$", "ab", "ab<>"), ("(?m)^", "a\nb", "<>a\n<>b"), ("\\b", "ab c", "<>ab<> <>c<>"), ("[^a]+", "aéa", "a<>a"),
            ("(\\b|\\D)*", "A", "<>A<>"), ("(?:\\D??)*", "bcb", "<>b<>c<>b<>"), ("(a|b)*?c", "abac", "<>"),
            ("a.*c", "abcabc", "<>"),
            ("a.*?c", "abcabc", "<><>"), (".", "a\nb", "<>\n<>"),
        ]
    )
    func `The first and preferred matches are replaced`(pattern: String, text: String, expected: String) throws {
        var meter = Meter()
        #expect(try RegularExpression(pattern).replace(UTF8Key(text), with: "<>", &meter).string == expected)
    }

    @Test(arguments: ["(a*)*b", "(a|aa)+b", "(.*)*x", "(a?){100}b", "(?i)(k|s)+z"])
    func `The number of steps is linear in the text`(pattern: String) throws {
        let expression = try RegularExpression(pattern)
        func steps(_ count: Int) throws -> Int {
            var meter = Meter()
            let before = meter.work
            #expect(try !expression.matchesWhole(UTF8Key(String(repeating: "a", count: count)), &meter))
            return before - meter.work
        }
        let (short, long) = (try steps(200), try steps(2_000))
        #expect(long < short * 12)
    }

    @Test
    func `A long text exhausts the work instead of the time`() throws {
        let expression = try RegularExpression("((a?){500})*b")
        var meter = Meter()
        #expect(throws: EvaluationError.self) {
            try expression.matchesWhole(UTF8Key(String(repeating: "a", count: 100_000)), &meter)
        }
    }

    @Test
    func `Any pattern is compiled and matched, or refused`() throws {
        var random = SeededGenerator()
        let pieces = [
            "a", "é", "(", ")", "[", "]", "{", "}", "*", "+", "?", "|", "\\", "^", "$", ".", "-", ",", "2", "9", "(?i)", "(?:",
            "\\p{", "L",
            "[[:", ":]", "\\x", "\\Q", "\\E", "(?P<", ">", "&", "\\d", "😀",
        ]
        for _ in 0..<5_000 {
            let pattern = (0..<Int.random(in: 0..<12, using: &random)).compactMap { _ in pieces.randomElement(using: &random) }
                .joined()
            guard let expression = try? RegularExpression(pattern) else { continue }
            var meter = Meter()
            let text = UTF8Key(
                (0..<6).compactMap { _ in ["a", "é", "L", "2", "\n", "😀"].randomElement(using: &random) }.joined()
            )
            _ = try expression.matchesWhole(text, &meter)
            // Nothing but the matches is left out.
            let parts = try expression.split(text, &meter).reduce(0) { $0 + $1.byteCount }
            #expect(
                try expression.replace(text, with: "", &meter).byteCount == parts,
                "HEARTH_TEST_SEED=\(random.seed): \(pattern)"
            )
        }
    }

    @Test
    func `Every code point is in at most one script`() throws {
        let ranges = try UnicodeScript.names.flatMap { try #require(UnicodeScript.ranges($0)) }.sorted {
            $0.lowerBound < $1.lowerBound
        }
        #expect(UnicodeScript.names.count == 174)
        #expect(UnicodeScript.names.allSatisfy { UnicodeScript.ranges($0)?.isEmpty == false })
        #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
        #expect(ranges.last.map { $0.upperBound <= ScalarClass.maximum } == true)
    }
}
