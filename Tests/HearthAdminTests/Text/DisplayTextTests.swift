import Testing

@testable import HearthAdmin

@Suite("Display text")
struct DisplayTextTests {
    @Test(
        arguments: [
            ("invoice\u{202E}fdp.exe", "invoice⟨RLO⟩fdp.exe"), ("pass\u{200B}word", "pass⟨ZWSP⟩word"), ("\u{FEFF}x", "⟨BOM⟩x"),
            ("a\u{0}b", "a⟨NUL⟩b"), ("a\nb\tc", "a⟨LF⟩b⟨TAB⟩c"), ("\r\n", "⟨CR⟩⟨LF⟩"), ("\u{85}", "⟨NEL⟩"),
            ("\u{90}", "⟨U+0090⟩"),
            ("\u{2066}x\u{2069}", "⟨LRI⟩x⟨PDI⟩"), ("a\u{200D}b", "a⟨ZWJ⟩b"), ("\u{200D}", "⟨ZWJ⟩"),
            ("é\u{200D}\u{200D}é", "é⟨ZWJ⟩⟨ZWJ⟩é"),
            ("a\u{E0041}", "a⟨U+E0041⟩"), ("a\u{AD}b", "a⟨SHY⟩b"), ("\u{202A}\u{202E}", "⟨LRE⟩⟨RLO⟩"),
            ("x\u{1B}[31m", "x⟨ESC⟩[31m"), (" ", "⟨SP⟩"), (" a  b ", "⟨SP⟩a  b⟨SP⟩"), ("a\u{A0}", "a⟨NBSP⟩"),
            ("\u{3164}", "⟨HF⟩"), ("a\u{FE0F}b", "a⟨U+FE0F⟩b"), ("é\u{FE00}\u{FE01}", "é\u{FE00}⟨U+FE01⟩"),
            ("a\u{E0101}", "a⟨U+E0101⟩"), ("a\u{34F}b", "a⟨CGJ⟩b"), ("1\u{FE0F}2", "1⟨U+FE0F⟩2"),
        ]
    )
    func `Invisible characters are labeled`(text: String, shown: String) {
        #expect(Array(DisplayText(text).plain.utf8) == Array(shown.utf8))
    }

    @Test(
        arguments: [
            "", "plain", "می‌خواهم", "👩‍👩‍👧‍👦", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🇩🇪", "ക്‍ഷ", "e\u{301}", "é", "दस्तावेज़", "עברית, 42!", "\u{301}", "a\u{A0}b", "❤️", "1️⃣",
            "🏳️‍🌈", "葛\u{E0100}",
        ]
    )
    func `Visible characters, and those that only affect their neighbors, are unchanged`(text: String) {
        let shown = DisplayText(text)
        #expect(shown.runs.count == 1)
        #expect(Array(shown.plain.utf8) == Array(text.utf8))
    }

    @Test
    func `Multi-line text keeps line breaks and tabs`() {
        #expect(DisplayText(" a\nb\tc\r ", lines: .multiple).plain == " a\nb\tc⟨CR⟩ ")
    }

    @Test(
        arguments: [
            ("abc", 3, "abc", false), ("abcd", 3, "abc", true), ("", 3, "", false), ("ééé", 3, "ééé", false),
            ("e\u{301}e\u{301}e\u{301}", 3, "e\u{301}", true), ("👩‍👩‍👧‍👦!", 3, "👩‍👩", true), ("a👩‍👩‍👧‍👦", 3, "a", true),
            ("日本語テキスト", 3, "日本語", true),
        ]
    )
    func `Truncation keeps grapheme clusters whole`(text: String, limit: Int, prefix: String, isTruncated: Bool) {
        let result = text.truncated(toScalars: limit)
        #expect(Array(result.text.utf8) == Array(prefix.utf8))
        #expect(result.isTruncated == isTruncated)
    }

    @Test
    func `A long run of combining marks is truncated`() {
        let result = ("a" + String(repeating: "\u{301}", count: 100_000)).truncated(toScalars: 80)
        #expect(result.text.unicodeScalars.count == 80)
        #expect(result.isTruncated)
    }
}
