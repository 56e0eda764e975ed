package import DocumentModel

/// The translations, templates and static files of the pages, loaded and compiled once.
package struct PageAssets: Sendable {
    let catalog: TranslationCatalog
    var templates: TemplateLibrary
    let files: StaticFiles

    /// Loads the assets.
    ///
    /// - Throws: ``StatusError`` naming the folder or file that is missing or invalid.
    package init(_ location: AssetLocation) throws(StatusError) {
        catalog = try TranslationCatalog(templates: location.templates)
        templates = try TemplateLibrary(folder: location.templates, catalog: catalog)
        files = try StaticFiles(folder: location.files)
    }
}
