import Testing

@testable import HearthAdmin

@Suite("Text as pages show it")
struct DisplayTextTests {
    @Test(
        "What can't be seen is marked",
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
    func marks(text: String, shown: String) {
        #expect(Array(DisplayText(text).plain.utf8) == Array(shown.utf8))
    }

    @Test(
        "What shapes its neighbours is left alone, as is all else",
        arguments: [
            "", "plain", "می‌خواهم", "👩‍👩‍👧‍👦", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🇩🇪", "ക്‍ഷ", "e\u{301}", "é", "दस्तावेज़", "עברית, 42!", "\u{301}", "a\u{A0}b", "❤️", "1️⃣",
            "🏳️‍🌈", "葛\u{E0100}",
        ]
    )
    func ordinary(text: String) {
        let shown = DisplayText(text)
        #expect(shown.runs.count == 1)
        #expect(Array(shown.plain.utf8) == Array(text.utf8))
    }

    @Test("Lines stay lines where there is room for them")
    func lines() {
        #expect(DisplayText(" a\nb\tc\r ", lines: .multiple).plain == " a\nb\tc⟨CR⟩ ")
    }

    @Test(
        "The beginning of a text has whole characters",
        arguments: [
            ("abc", 3, "abc", false), ("abcd", 3, "abc", true), ("", 3, "", false), ("ééé", 3, "ééé", false),
            ("e\u{301}e\u{301}e\u{301}", 3, "e\u{301}", true), ("👩‍👩‍👧‍👦!", 3, "👩‍👩", true), ("a👩‍👩‍👧‍👦", 3, "a", true),
            ("日本語テキスト", 3, "日本語", true),
        ]
    )
    func beginning(text: String, limit: Int, beginning: String, isCut: Bool) {
        let result = text.beginning(scalars: limit)
        #expect(Array(result.text.utf8) == Array(beginning.utf8))
        #expect(result.isCut == isCut)
    }

    @Test("A pile of combining marks is cut like any text")
    func pile() {
        let result = ("a" + String(repeating: "\u{301}", count: 100_000)).beginning(scalars: 80)
        #expect(result.text.unicodeScalars.count == 80)
        #expect(result.isCut)
    }
}
