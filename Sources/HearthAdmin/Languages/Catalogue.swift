import DocumentModel
import Foundation
import StrictJSON

/// The pages' texts in all languages, read once from `texts/ru.json` and its neighbours beside the templates.
///
/// A file maps each English text to its translation, one that has a number to an object of its forms:
///
/// ```json
/// {
///   "Last commit": "Последний коммит",
///   "{count} documents": {"one": "{count} документ", "few": "{count} документа", "many": "{count} документов"}
/// }
/// ```
struct Catalogue: Sendable {
    private var texts: [Language: Texts] = [:]

    /// Reads the files of all languages but English, whose texts are in templates and code.
    ///
    /// - Parameter folder: The folder of the templates.
    /// - Throws: `failedPrecondition` naming a file that can't be read, and the place in it.
    init(templates folder: URL) throws(StatusError) {
        for language in Language.allCases where language != .english {
            let file = folder.appending(path: "texts/\(language.rawValue).json")
            do {
                texts[language] = try Self.texts([UInt8](Data(contentsOf: file)), in: language)
            } catch {
                throw StatusError(.failedPrecondition, "The texts in \(file.path) can't be used: \(error)", cause: error)
            }
        }
    }

    /// The texts in a language.
    subscript(_ language: Language) -> Texts {
        texts[language] ?? Texts(language: language)
    }
}

extension Catalogue {
    /// Something in a file that is no translation.
    private struct Unreadable: Error, CustomStringConvertible {
        let line: Int
        let expectation: String

        var description: String { "line \(line): \(expectation)" }
    }

    private static func texts(_ json: [UInt8], in language: Language) throws -> Texts {
        var texts = Texts(language: language)
        guard let members = try JSONText(json).root.members else {
            throw Unreadable(line: 1, expectation: "expected an object of translations by their English texts")
        }
        for (key, node) in members {
            guard let translation = translation(node, in: language) else {
                let forms = language.pluralCategories.map(\.rawValue).joined(separator: ", ")
                throw Unreadable(
                    line: node.position().line,
                    expectation: "“\(key)” needs a text, or an object with a text for each of: \(forms)"
                )
            }
            texts.translations[key] = translation
        }
        return texts
    }

    private static func translation(_ node: JSONNode, in language: Language) -> Texts.Translation? {
        if let text = node.string { return .text(text) }
        guard node.count == language.pluralCategories.count else { return nil }
        var forms: [PluralCategory: String] = [:]
        for category in language.pluralCategories {
            guard let form = node[UTF8Key(category.rawValue)]?.string else { return nil }
            forms[category] = form
        }
        return .forms(forms)
    }
}
