import DocumentModel
import Foundation
import Mustache
import Synchronization

/// The templates of the pages, read and compiled once.
///
/// Every template escapes with ``MarkupEscaping``. The line break that ends a file is not part of its template,
/// so that one can stand inside a line of another.
struct TemplateLibrary: Sendable {
    /// The templates that pages name; the others are used by these.
    enum Name: String, CaseIterable {
        case overview
        case collection
        case collectionMap = "collection-map"
        case document
        case damaged
        case documentJSON = "document-json"
        case documentation
        case missing
        case problem
    }

    private let library: MustacheLibrary

    /// Reads all templates in a folder and the folders in it.
    ///
    /// - Throws: `notFound` when one that pages need isn't there, `failedPrecondition` when one can't be read or compiled.
    init(folder: URL) throws(StatusError) {
        Self.registerEscaping()
        var library = MustacheLibrary()
        for name in try Self.names(in: folder) {
            let file = folder.appending(path: name + Self.suffix)
            do {
                var text = try String(contentsOf: file, encoding: .utf8)
                if text.utf8.last == UInt8(ascii: "\n") { text.unicodeScalars.removeLast() }
                let template = TranslatableTemplate(text)
                try library.register("{{% CONTENT_TYPE:\(Self.contentType)}}" + template.translated { $0 }, named: name)
            } catch {
                throw StatusError(.failedPrecondition, "The template \(file.path) can't be used: \(error)", cause: error)
            }
        }
        let needed = Name.allCases.map(\.rawValue) + ValueView.templates
        let missing = needed.filter { library.getTemplate(named: $0) == nil }
        guard missing.isEmpty else {
            let files = missing.map { $0 + Self.suffix }.joined(separator: ", ")
            throw StatusError(
                .notFound,
                "The template folder \(folder.path) lacks \(files). Install Hearth's Templates folder there."
            )
        }
        self.library = library
    }

    /// The page's HTML.
    func render(_ page: some ViewModel, with name: Name) -> [UInt8] {
        // Every named template was found when the library was made.
        Array((library.render(page, withTemplate: name.rawValue) ?? "").utf8)
    }
}

extension TemplateLibrary {
    private static let suffix = ".mustache"
    private static let contentType = "HEARTH"
    private static let isEscapingRegistered = Mutex(false)

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
