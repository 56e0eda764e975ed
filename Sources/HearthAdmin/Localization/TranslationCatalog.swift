import DocumentModel
import Foundation
import StrictJSON
import UTF8Text

/// The translations of the strings on pages, loaded once from `texts/ru.json` and the other files in that folder.
///
/// A file maps each English string to its translation, or to an object with the plural forms of the translation:
///
/// ```json
/// {
///   "Last commit": "Последний коммит",
///   "{count} documents": {"one": "{count} документ", "few": "{count} документа", "many": "{count} документов"}
/// }
/// ```
struct TranslationCatalog: Sendable {
    private var translations: [Language: Translations] = [:]

    /// Loads the files of all languages except English, whose strings are in templates and code.
    ///
    /// - Parameter folder: The folder of the templates.
    /// - Throws: `failedPrecondition` naming the invalid file and the line.
    init(templates folder: URL) throws(StatusError) {
        for language in Language.allCases where language != .english {
            let file = folder.appending(path: "texts/\(language.rawValue).json")
            do {
                translations[language] = try Self.translations([UInt8](Data(contentsOf: file)), in: language)
            } catch {
                throw StatusError(
                    .failedPrecondition,
                    "The translations in \(file.path) cannot be loaded: \(error)",
                    cause: error
                )
            }
        }
    }

    /// The translations into a language.
    subscript(_ language: Language) -> Translations {
        translations[language] ?? Translations(language: language)
    }
}

extension TranslationCatalog {
    /// A syntax error in a translation file.
    private struct InvalidTranslation: Error, CustomStringConvertible {
        let line: Int
        let expectation: String

        var description: String { "line \(line): \(expectation)" }
    }

    private static func translations(_ json: [UInt8], in language: Language) throws -> Translations {
        var translations = Translations(language: language)
        guard let members = try JSONText(json).root.members else {
            throw InvalidTranslation(line: 1, expectation: "expected an object that maps English strings to translations")
        }
        for (key, node) in members {
            guard let translation = translation(node, in: language) else {
                let forms = language.pluralCategories.map(\.rawValue).joined(separator: ", ")
                throw InvalidTranslation(
                    line: node.position().line,
                    expectation: "“\(key)” must map to a string or to an object with the plural forms \(forms)"
                )
            }
            translations.entries[key] = translation
        }
        return translations
    }

    private static func translation(_ node: JSONNode, in language: Language) -> Translations.Entry? {
        if let text = node.string { return .text(text) }
        guard node.count == language.pluralCategories.count else { return nil }
        var forms: [PluralCategory: String] = [:]
        for category in language.pluralCategories {
            guard let form = node[UTF8Key(category.rawValue)]?.string else { return nil }
            forms[category] = form
        }
        return .plural(forms)
    }
}
