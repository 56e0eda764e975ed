import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Languages")
struct LanguageTests {
    @Test(
        arguments: [
            ("fa", Language.persian), ("fa-IR,fa;q=0.9,en;q=0.8", .persian), ("en-US,en;q=0.9,fa;q=0.8", .english),
            ("de-CH, vi;q=0.3, ru;q=0.7", .russian), ("RU-ru", .russian), ("id ; q=1.000 , bn", .indonesian),
            ("bn;q=0.999,vi", .vietnamese), ("de,*;q=0.5", .english), ("*,fa;q=0.9", .english), ("fa;q=0,ru;q=0.001", .russian),
            ("de\t,\tbn\t;\tq=0.5", .bengali),
        ]
    )
    func `The supported language with the highest weight is selected, the first of several`(header: String, language: Language) {
        #expect(Language(accepted: header) == language)
    }

    @Test(
        arguments: [
            nil, "", "de", "fa;q=0", "fas", "farsi", ",;,", "fa;q=2", "fa;q=0.1234", "fa;q=", "fa;q=x", "fa;level=1", "ｆａ", "q=1",
        ]
    )
    func `A header without a supported language selects none`(header: String?) {
        #expect(Language(accepted: header) == nil)
    }

    @Test(
        arguments: [
            (Language.english, [PluralCategory.one: [1], .other: [0, 2, 11, 21, 100]]),
            (.bengali, [.one: [0, 1], .other: [2, 11, 100]]),
            (.persian, [.one: [0, 1], .other: [2, 11, 100]]),
            (.indonesian, [.other: [0, 1, 2, 21]]),
            (.vietnamese, [.other: [0, 1, 2, 21]]),
            (
                .russian,
                [
                    .one: [1, 21, 101, 1_001], .few: [2, 3, 4, 22, 104],
                    .many: [0, 5, 11, 12, 13, 14, 20, 25, 111, 112, 1_000],
                ]
            ),
        ]
    )
    func `Plural categories match CLDR`(language: Language, numbers: [PluralCategory: [Int]]) {
        #expect(Set(numbers.keys) == Set(language.pluralCategories))
        for (category, numbers) in numbers {
            #expect(numbers.map { language.pluralCategory(of: $0) } == numbers.map { _ in category })
        }
    }

    @Test(
        arguments: [
            (Language.english, ["0", "999", "1,000", "12,345", "1,048,576", "-1,204"]),
            (.bengali, ["০", "৯৯৯", "১,০০০", "১২,৩৪৫", "১০,৪৮,৫৭৬", "-১,২০৪"]),
            (.indonesian, ["0", "999", "1.000", "12.345", "1.048.576", "-1.204"]),
            (.persian, ["۰", "۹۹۹", "۱٬۰۰۰", "۱۲٬۳۴۵", "۱٬۰۴۸٬۵۷۶", "-۱٬۲۰۴"]),
            (.russian, ["0", "999", "1\u{a0}000", "12\u{a0}345", "1\u{a0}048\u{a0}576", "-1\u{a0}204"]),
            (.vietnamese, ["0", "999", "1.000", "12.345", "1.048.576", "-1.204"]),
        ]
    )
    func `Numbers are grouped and use the language's digits`(language: Language, texts: [String]) {
        #expect([0, 999, 1_000, 12_345, 1_048_576, -1_204].map(language.numberFormat.text) == texts)
    }

    @Test
    func `Variables are substituted in any order, and unknown ones are kept`() {
        var translations = Translations(language: .russian)
        translations.entries["{a} of {b}"] = .text("{b}: {a} {c}")
        translations.entries["{count} documents"] = .plural([
            .one: "{count} документ", .few: "{count} документа", .many: "{count} шт.",
        ])
        Translations.$current.withValue(translations) {
            #expect(localized("{a} of {b}", ["a": "{b}", "b": "2"]) == "2: {b} {c}")
            #expect(localized(count: 22, one: "{count} document", other: "{count} documents") == "22 документа")
            #expect(localized(count: 1_000, one: "{count} document", other: "{count} documents") == "1\u{a0}000 шт.")
            // Strings without a translation stay English.
            #expect(localized("none") == "none")
            #expect(localized(count: 21, one: "{count} thing", other: "{count} things") == "21 things")
            #expect(localized(count: 1, one: "{count} thing", other: "{count} things") == "1 thing")
        }
    }

    @Test
    func `Strings in templates are escaped unless they contain markup`() {
        let template = TranslatableTemplate("<p title=\"[[a & {{b}}]]\">[[<b>{{c}}</b>]] [[open</p>")
        #expect(template.strings == ["a & {{b}}", "<b>{{c}}</b>"])
        let translated = template.translated { $0 == "a & {{b}}" ? "{{b}} \"y\" {{ z" : "<i>{{c}}</i>" }
        #expect(translated == "<p title=\"{{b}} &quot;y&quot; {{ z\"><i>{{c}}</i> [[open</p>")
    }
}
