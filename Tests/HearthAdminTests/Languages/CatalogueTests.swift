import DocumentModel
import Foundation
import StrictJSON
import Testing

@testable import HearthAdmin

@Suite("The catalogue of texts")
struct CatalogueTests {
    private static let languages = Language.allCases.filter { $0 != .english }

    @Test("Texts of the code stand there as they stand in the catalogue")
    func sources() throws {
        let sources = try SourceTexts()
        #expect(sources.complaints == [])
        #expect(sources.plain.count > 50)
        #expect(sources.counted.count > 10)
        #expect(sources.plain.intersection(sources.counted) == [])
    }

    @Test("Every text is translated", arguments: languages)
    func missing(language: Language) throws {
        let sources = try SourceTexts()
        let translations = try TestSite.catalogue()[language].translations
        var missing: [String] = []
        for text in sources.plain {
            guard case .text = translations[UTF8Key(text)] else {
                missing.append(text)
                continue
            }
        }
        for text in sources.counted {
            guard case .forms = translations[UTF8Key(text)] else {
                missing.append(text)
                continue
            }
        }
        #expect(missing.sorted() == [])
    }

    @Test("No translation is left of a text that is gone", arguments: languages)
    func leftOver(language: Language) throws {
        let sources = try SourceTexts()
        let known = Set(sources.plain.union(sources.counted).map { UTF8Key($0) })
        let left = try TestSite.catalogue()[language].translations.keys.filter { !known.contains($0) }
        #expect(left.map(\.string).sorted() == [])
    }

    @Test("Translations have the variables and the markup of their text", arguments: languages)
    func placeholders(language: Language) throws {
        for (english, translation) in try TestSite.catalogue()[language].translations {
            let forms =
                switch translation {
                case .text(let text): [text]
                case .forms(let forms): Array(forms.values)
                }
            for form in forms {
                #expect(Self.pieces(of: form) == Self.pieces(of: english.string), "\(form)")
                #expect(!form.utf8.isEmpty, "\(english)")
            }
        }
    }

    @Test(
        "A file that is none names what is wrong, and where",
        arguments: [
            ("[]", "line 1: expected an object of translations by their English texts"),
            ("{\"a\": \"b\",\n \"c\": 1}", "line 2: “c” needs a text, or an object with a text for each of: one, few, many"),
            ("{\"a\": {\"one\": \"b\", \"few\": \"b\", \"other\": \"b\"}}", "line 1: “a” needs a text"),
            ("{\"a\": \"b\", \"a\": \"b\"}", "duplicate"),
        ]
    )
    func unreadable(json: String, complaint: String) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hearth-texts-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder.appending(path: "texts"), withIntermediateDirectories: true)
        for language in Self.languages {
            let text = language == .russian ? json : "{}"
            try Data(text.utf8).write(to: folder.appending(path: "texts/\(language.rawValue).json"))
        }
        let error = #expect(throws: StatusError.self) { try Catalogue(templates: folder) }
        #expect(error?.message.contains("texts/ru.json") == true)
        #expect(error?.message.contains(complaint) == true, "\(error?.message ?? "")")
    }

    /// The variables and the tags of a text, in an order that is always the same.
    private static func pieces(of text: String) -> [String] {
        text.matches(of: /\{\{.*?\}\}|\{[a-z]+\}|<[^>]*>/).map { String($0.0) }.sorted()
    }
}
