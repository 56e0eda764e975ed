import DocumentModel
import Foundation
import Mustache
import Synchronization

/// The templates of the pages, loaded once and compiled for each language.
///
/// Every template escapes with ``HTMLEscaping``. The final line break of a file is not part of the template, so a partial can be
/// used within a line.
struct TemplateLibrary: Sendable {
    /// The templates rendered by pages and streams; the other files are partials.
    enum Name: String, CaseIterable {
        case overview
        case collection
        case collectionColors = "collection-colors"
        case collectionJSON = "collection-json"
        case collectionMap = "collection-map"
        case collectionTypes = "collection-types"
        case document
        case documentFacts = "document-facts"
        case damagedDocument = "damaged-document"
        case damagedExport = "damaged-export"
        case documentJSON = "document-json"
        case documentation
        case missingDocument = "missing-document"
        case errorPage = "error-page"
        case finder
        case subcollectionsPage = "subcollections-page"
        case query
        case queryBuilder = "query-builder"
        case signIn = "sign-in"
        case editFields = "edit-fields"
        case editJSON = "edit-json"
        case conflict
        case delete
        case history
        case job
        case jobs
        case `import`
        case newCollection = "new-collection"
        case keys
        case revokeKey = "revoke-key"
        case settings
        case rules
        case rulesVersion = "rules-version"
        case rulesPlayground = "rules-playground"
    }

    private let libraries: [Language: MustacheLibrary]
    /// Receives the lookups of all templates; tests set it to find unused members.
    var observer: TemplateContext.Observer?

    /// Loads all templates in a folder and its subfolders.
    ///
    /// - Parameter catalog: The translations of the strings in templates.
    /// - Throws: `notFound` when a required template is missing, `failedPrecondition` when one cannot be read or compiled.
    init(folder: URL, catalog: TranslationCatalog) throws(StatusError) {
        Self.registerEscaping()
        var templates: [Language: [String: MustacheTemplate]] = [:]
        for name in try Self.names(in: folder) {
            let file = folder.appending(path: name + Self.suffix)
            do {
                var text = try String(contentsOf: file, encoding: .utf8)
                if text.utf8.last == UInt8(ascii: "\n") { text.unicodeScalars.removeLast() }
                for (language, template) in try Self.compile(TranslatableTemplate(text), catalog: catalog) {
                    templates[language, default: [:]][name] = template
                }
            } catch {
                throw StatusError(.failedPrecondition, "The template \(file.path) cannot be compiled: \(error)", cause: error)
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

    /// Renders a page in the language of ``Translations/current``.
    func render(_ page: some ViewModel, with name: Name) -> [UInt8] {
        Array(text(of: page, with: name).utf8)
    }

    /// Renders a page or a fragment in the language of ``Translations/current``.
    func text(of model: some ViewModel, with name: Name) -> String {
        // `init` checked that every named template exists.
        libraries[Translations.current.language]?.render(TemplateContext(model, observer: observer), withTemplate: name.rawValue)
            ?? ""
    }
}

extension TemplateLibrary {
    private static let suffix = ".mustache"
    private static let contentType = "HEARTH"
    private static let isEscapingRegistered = Mutex(false)

    /// Compiles a template for each language; one without translatable strings, such as the coastlines, is compiled once.
    private static func compile(
        _ template: TranslatableTemplate,
        catalog: TranslationCatalog
    ) throws -> [(Language, MustacheTemplate)] {
        let pragma = "{{% CONTENT_TYPE:\(contentType)}}"
        guard !template.strings.isEmpty else {
            let compiled = try MustacheTemplate(string: pragma + template.translated { $0 })
            return Language.allCases.map { ($0, compiled) }
        }
        return try Language.allCases.map { language in
            let translations = catalog[language]
            return (language, try MustacheTemplate(string: pragma + template.translated { translations.text($0) }))
        }
    }

    /// Registers the escaping once, because Mustache's content types are global.
    private static func registerEscaping() {
        isEscapingRegistered.withLock { isRegistered in
            if !isRegistered { MustacheContentTypes.register(HTMLEscaping(), named: contentType) }
            isRegistered = true
        }
    }

    /// Returns the relative paths of all templates in a folder, without their suffix.
    private static func names(in folder: URL) throws(StatusError) -> [String] {
        do {
            return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                .filter { $0.hasSuffix(suffix) }
                .map { String($0.dropLast(suffix.count)) }
        } catch {
            throw StatusError(
                .notFound,
                "The template folder \(folder.path) cannot be read: \(error.localizedDescription)",
                cause: error
            )
        }
    }
}
