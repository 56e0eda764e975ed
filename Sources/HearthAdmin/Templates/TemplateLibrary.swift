import DocumentModel
import Foundation
import Mustache
import Synchronization

/// The templates of the pages, read once and compiled for each language.
///
/// Every template escapes with ``MarkupEscaping``. The line break that ends a file is not part of its template,
/// so that one can stand inside a line of another.
struct TemplateLibrary: Sendable {
    /// The templates that pages and their streams name; the others are used by these.
    enum Name: String, CaseIterable {
        case overview
        case collection
        case collectionColors = "collection-colors"
        case collectionJSON = "collection-json"
        case collectionMap = "collection-map"
        case collectionTypes = "collection-types"
        case document
        case documentFacts = "document-facts"
        case fieldRow = "field-row"
        case damaged
        case damagedExport = "damaged-export"
        case documentJSON = "document-json"
        case documentation
        case missing
        case problem
        case query
        case signIn = "sign-in"
        case editFields = "edit-fields"
        case editJSON = "edit-json"
        case conflict
        case delete
        case history
        case work
        case works
        case importing
        case newCollection = "new-collection"
        case keys
        case settings
    }

    private let libraries: [Language: MustacheLibrary]

    /// Reads all templates in a folder and the folders in it.
    ///
    /// - Parameter catalogue: The translations of the templates' texts.
    /// - Throws: `notFound` when one that pages need isn't there, `failedPrecondition` when one can't be read or compiled.
    init(folder: URL, catalogue: Catalogue) throws(StatusError) {
        Self.registerEscaping()
        var templates: [Language: [String: MustacheTemplate]] = [:]
        for name in try Self.names(in: folder) {
            let file = folder.appending(path: name + Self.suffix)
            do {
                var text = try String(contentsOf: file, encoding: .utf8)
                if text.utf8.last == UInt8(ascii: "\n") { text.unicodeScalars.removeLast() }
                for (language, template) in try Self.compile(TranslatableTemplate(text), catalogue: catalogue) {
                    templates[language, default: [:]][name] = template
                }
            } catch {
                throw StatusError(.failedPrecondition, "The template \(file.path) can't be used: \(error)", cause: error)
            }
        }
        let missing = Name.allCases.map(\.rawValue).filter { templates[.english]?[$0] == nil }
        guard missing.isEmpty else {
            let files = missing.map { $0 + Self.suffix }.joined(separator: ", ")
            throw StatusError(
                .notFound,
                "The template folder \(folder.path) lacks \(files). Install Hearth's Templates folder there."
            )
        }
        libraries = templates.mapValues { MustacheLibrary(templates: $0) }
    }

    /// The page's HTML in the language of ``Texts/current``.
    func render(_ page: some ViewModel, with name: Name) -> [UInt8] {
        Array(text(of: page, with: name).utf8)
    }

    /// The HTML of a page or a part of one in the language of ``Texts/current``.
    func text(of model: some ViewModel, with name: Name) -> String {
        // Every named template was found when the libraries were made.
        libraries[Texts.current.language]?.render(Shared(model), withTemplate: name.rawValue) ?? ""
    }
}

/// A page while it is rendered: Mustache copies what it looks into for each tag.
private final class Shared<Model: ViewModel>: MustacheParent {
    private let model: Model

    init(_ model: Model) {
        self.model = model
    }

    func child(named name: String) -> Any? {
        model.child(named: name)
    }
}

extension TemplateLibrary {
    private static let suffix = ".mustache"
    private static let contentType = "HEARTH"
    private static let isEscapingRegistered = Mutex(false)

    /// A template in each language; one without texts, such as the coastlines, is compiled once for all.
    private static func compile(
        _ template: TranslatableTemplate,
        catalogue: Catalogue
    ) throws -> [(Language, MustacheTemplate)] {
        let pragma = "{{% CONTENT_TYPE:\(contentType)}}"
        guard !template.texts.isEmpty else {
            let compiled = try MustacheTemplate(string: pragma + template.translated { $0 })
            return Language.allCases.map { ($0, compiled) }
        }
        return try Language.allCases.map { language in
            let texts = catalogue[language]
            return (language, try MustacheTemplate(string: pragma + template.translated { texts.text($0) }))
        }
    }

    /// Mustache keeps content types for the whole process.
    private static func registerEscaping() {
        isEscapingRegistered.withLock { isRegistered in
            if !isRegistered { MustacheContentTypes.register(MarkupEscaping(), named: contentType) }
            isRegistered = true
        }
    }

    /// The paths of all templates below the folder, without their suffix.
    private static func names(in folder: URL) throws(StatusError) -> [String] {
        do {
            return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                .filter { $0.hasSuffix(suffix) }
                .map { String($0.dropLast(suffix.count)) }
        } catch {
            throw StatusError(
                .notFound,
                "The template folder \(folder.path) can't be read: \(error.localizedDescription)",
                cause: error
            )
        }
    }
}
