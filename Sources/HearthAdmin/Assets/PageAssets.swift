package import DocumentModel

/// What the pages are made with: texts, templates and static files, read and compiled once.
package struct PageAssets: Sendable {
    let catalogue: Catalogue
    let templates: TemplateLibrary
    let files: StaticFiles

    /// Reads them.
    ///
    /// - Throws: ``StatusError`` naming the folder or file that is missing or can't be used.
    package init(_ location: AssetLocation) throws(StatusError) {
        catalogue = try Catalogue(templates: location.templates)
        templates = try TemplateLibrary(folder: location.templates, catalogue: catalogue)
        files = try StaticFiles(folder: location.files)
    }
}
