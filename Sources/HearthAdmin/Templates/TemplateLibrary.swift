import DocumentModel
import Foundation
import Mustache
import Synchronization

/// The templates of the pages, loaded once. They are compiled for a language when the first page in it is rendered.
///
/// Every template escapes with ``HTMLEscaping``. The final line break of a file is not part of the template, so a partial can be
/// used within a line.
struct TemplateLibrary: Sendable {
    /// The templates rendered by pages and streams; the other files are partials.
    enum Name: String, CaseIterable {
        case overview
        case collection
        case collectionColors = "collection-colors"
        case collectionPanels = "collection-panels"
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
        case valueEditor = "value-editor"
        case bulkEdit = "bulk-edit"
        case conflict
        case delete
        case history
        case references
        case job
        case jobs
        case activity
        case slowCalls = "slow-calls"
        case log
        case backups
        case `import`
        case newCollection = "new-collection"
        case databases
        case deleteDatabase = "delete-database"
        case keys
        case revokeKey = "revoke-key"
        case settings
        case removeIndex = "remove-index"
        case rules
        case rulesVersion = "rules-version"
        case rulesPlayground = "rules-playground"
    }

    private let english: MustacheLibrary
    private let translated: TranslatedLibraries
    /// Receives the lookups of all templates; tests set it to find unused members.
    var observer: TemplateContext.Observer?

    /// Loads all templates in a folder and its subfolders.
    ///
    /// - Parameter catalog: The translations of the strings in templates.
    /// - Throws: `notFound` when a required template is missing, `failedPrecondition` when one cannot be read or compiled.
    init(folder: URL, catalog: TranslationCatalog) throws(StatusError) {
        Self.registerEscaping()
        var templates: [String: MustacheTemplate] = [:]
        var translatable: [String: TranslatableTemplate] = [:]
        for name in try Self.names(in: folder) {
            let file = folder.appending(path: name + Self.suffix)
            do {
                var text = try String(contentsOf: file, encoding: .utf8)
                if text.utf8.last == UInt8(ascii: "\n") { text.unicodeScalars.removeLast() }
                let template = TranslatableTemplate(text)
                templates[name] = try Self.compile(template) { string in
                    translatable[name] = template
                    return string
                }
            } catch {
                throw StatusError(.failedPrecondition, "The template \(file.path) cannot be compiled: \(error)", cause: error)
            }
        }
        let missing = Name.allCases.map(\.rawValue).filter { templates[$0] == nil }
        guard missing.isEmpty else {
            let files = missing.map { $0 + Self.suffix }.joined(separator: ", ")
            throw StatusError(
                .notFound,
                "The template folder \(folder.path) lacks \(files). Install Hearth's Templates folder there."
            )
        }
        english = MustacheLibrary(templates: templates)
        translated = TranslatedLibraries(templates, translatable, catalog)
    }

    /// Renders a page in the language of ``Translations/current``.
    func render(_ page: some ViewModel, with name: Name) -> [UInt8] {
        Array(text(of: page, with: name).utf8)
    }

    /// Renders a page or a fragment in the language of ``Translations/current``.
    func text(of model: some ViewModel, with name: Name) -> String {
        // `init` checked that every named template exists.
        let language = Translations.current.language
        let library = language == .english ? english : translated[language]
        return library.render(TemplateContext(model, observer: observer), withTemplate: name.rawValue) ?? ""
    }
}

extension TemplateLibrary {
    private static let suffix = ".mustache"
    private static let contentType = "HEARTH"
    private static let isEscapingRegistered = Mutex(false)

    /// Compiles a template with translated strings.
    fileprivate static func compile(
        _ template: TranslatableTemplate,
        _ translate: (String) -> String
    ) throws -> MustacheTemplate {
        try MustacheTemplate(string: "{{% CONTENT_TYPE:\(contentType)}}" + template.translated(translate))
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

/// The templates in languages other than English, compiled when they are needed first.
private final class TranslatedLibraries: Sendable {
    private let english: [String: MustacheTemplate]
    private let translatable: [String: TranslatableTemplate]
    private let catalog: TranslationCatalog
    private let libraries = Mutex<[Language: MustacheLibrary]>([:])

    /// - Parameter translatable: The templates that contain translatable strings.
    init(
        _ english: [String: MustacheTemplate],
        _ translatable: [String: TranslatableTemplate],
        _ catalog: TranslationCatalog
    ) {
        self.english = english
        self.translatable = translatable
        self.catalog = catalog
    }

    /// The templates in a language. One whose translation is no valid template stays in English.
    subscript(_ language: Language) -> MustacheLibrary {
        libraries.withLock { libraries in
            if let library = libraries[language] { return library }
            let translations = catalog[language]
            var templates = english
            for (name, template) in translatable {
                if let compiled = try? TemplateLibrary.compile(template, translations.text) { templates[name] = compiled }
            }
            let library = MustacheLibrary(templates: templates)
            libraries[language] = library
            return library
        }
    }
}
