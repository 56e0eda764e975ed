import DocumentModel
import Foundation
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Translation catalog")
struct TranslationCatalogTests {
    private static let languages = Language.allCases.filter { $0 != .english }

    @Test
    func `All strings in the sources can be collected`() throws {
        let sources = try SourceStrings()
        #expect(sources.errors == [])
        #expect(sources.plain.count > 50)
        #expect(sources.counted.count > 10)
        #expect(sources.plain.intersection(sources.counted) == [])
    }

    @Test(arguments: languages)
    func `Every string is translated`(language: Language) throws {
        let sources = try SourceStrings()
        let translations = try TestSite.catalog()[language].entries
        var missing: [String] = []
        for text in sources.plain {
            guard case .text = translations[UTF8Key(text)] else {
                missing.append(text)
                continue
            }
        }
        for text in sources.counted {
            guard case .plural = translations[UTF8Key(text)] else {
                missing.append(text)
                continue
            }
        }
        #expect(missing.sorted() == [])
    }

    @Test(arguments: languages)
    func `There are no translations of removed strings`(language: Language) throws {
        let sources = try SourceStrings()
        let known = Set(sources.plain.union(sources.counted).map { UTF8Key($0) })
        let left = try TestSite.catalog()[language].entries.keys.filter { !known.contains($0) }
        #expect(left.map(\.string).sorted() == [])
    }

    @Test(arguments: languages)
    func `Translations have the same variables and markup as the original`(language: Language) throws {
        for (english, translation) in try TestSite.catalog()[language].entries {
            let forms =
                switch translation {
                case .text(let text): [text]
                case .plural(let forms): Array(forms.values)
                }
            for form in forms {
                #expect(Self.variablesAndTags(in: form) == Self.variablesAndTags(in: english.string), "\(form)")
                #expect(!form.utf8.isEmpty, "\(english)")
            }
        }
    }

    @Test(
        arguments: [
            ("[]", "line 1: expected an object that maps English strings to translations"),
            (
                "{\"a\": \"b\",\n \"c\": 1}",
                "line 2: “c” must map to a string or to an object with the plural forms one, few, many"
            ),
            ("{\"a\": {\"one\": \"b\", \"few\": \"b\", \"other\": \"b\"}}", "line 1: “a” must map to a string"),
            ("{\"a\": \"b\", \"a\": \"b\"}", "duplicate"),
        ]
    )
    func `An invalid file is reported with the line of the error`(json: String, expected: String) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hearth-texts-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder.appending(path: "texts"), withIntermediateDirectories: true)
        for language in Self.languages {
            let text = language == .russian ? json : "{}"
            try Data(text.utf8).write(to: folder.appending(path: "texts/\(language.rawValue).json"))
        }
        let error = #expect(throws: StatusError.self) { try TranslationCatalog(templates: folder) }
        #expect(error?.message.contains("texts/ru.json") == true)
        #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
    }

    /// Returns the variables and tags in a string, sorted.
    private static func variablesAndTags(in text: String) -> [String] {
        text.matches(of: /\{\{.*?\}\}|\{[a-z]+\}|<[^>]*>/).map { String($0.0) }.sorted()
    }
}
