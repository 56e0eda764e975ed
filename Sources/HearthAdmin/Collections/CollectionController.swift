import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The controller for the views of a collection and its queries: table, map, colors, JSON and types.
struct CollectionController {
    let request: AdminRequest

    private var context: ServiceContext { request.context }

    /// Returns the shareable URL that a submitted filter form redirects to; `nil` for other requests and incomplete forms.
    func canonicalFilterURL(at segments: [UTF8Key]) -> String? {
        guard case .collection(let path)? = try? ResourcePath(segments),
            let view = try? CollectionRequest(path: path, query: request.query),
            let form = SubmittedFilterForm(request.query, of: view), !form.isIncomplete
        else { return nil }
        return form.request.url()
    }

    func page(of path: CollectionPath) async throws(StatusError) -> any Page {
        var view = try CollectionRequest(path: path, query: request.query)
        if let form = SubmittedFilterForm(request.query, of: view) { view = form.request }
        let results = try await CollectionResults(view, in: context)
        let contents = CollectionContents(
            results,
            count: await BoundedCount(results, in: context),
            commands: request.shellCommands
        )
        // Invalid filters have no results, so the page shows only the filter form.
        guard results.error == nil else { return CollectionTablePage(contents, canWrite: request.principal.canWrite) }
        return switch view.view {
        case .table: CollectionTablePage(contents, canWrite: request.principal.canWrite)
        case .map: CollectionMapPage(contents)
        case .colors: CollectionColorsPage(contents)
        case .json: CollectionJSONPage(contents)
        case .types: try await CollectionTypesPage(contents, in: context)
        }
    }
}
