package import DocumentModel
import Foundation
import HearthAPI

/// The translations, templates, static files and example documents of the pages, loaded and compiled once.
package struct PageAssets: Sendable {
    let catalog: TranslationCatalog
    var templates: TemplateLibrary
    let files: StaticFiles
    /// The documents that `hearth example load guide` writes; empty if their file is missing or invalid.
    let examples: [DocumentExportLine]

    /// Loads the assets.
    ///
    /// - Throws: ``StatusError`` naming the folder or file that is missing or invalid.
    package init(_ location: AssetLocation) throws(StatusError) {
        catalog = try TranslationCatalog(templates: location.templates)
        templates = try TemplateLibrary(folder: location.templates, catalog: catalog)
        files = try StaticFiles(folder: location.files)
        examples = (try? Self.examples(in: location.examples)) ?? []
    }

    private static func examples(in folder: URL) throws -> [DocumentExportLine] {
        let text = try Data(contentsOf: folder.appending(path: "guide.ndjson"))
        return try text.split(separator: UInt8(ascii: "\n")).map { try DocumentExportLine(Array($0)) }
    }
}
