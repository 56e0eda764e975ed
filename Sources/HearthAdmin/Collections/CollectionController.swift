import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The controller for the views of a collection and its queries: table, map, colors, JSON and types.
struct CollectionController {
    let request: AdminRequest

    private var context: ServiceContext { request.context }

    /// Returns the shareable URL that a submitted filter form redirects to; `nil` for other requests and incomplete forms.
    func canonicalFilterURL(at segments: [UTF8Key]) async -> String? {
        guard case .collection(let path)? = try? ResourcePath(segments),
            let view = try? CollectionRequest(path: path, query: request.query),
            let form = await submittedForm(of: view), !form.isIncomplete
        else { return nil }
        return form.request.url()
    }

    /// Returns whether all documents of a collection have the sort fields; `false` if they would have to be counted for too long.
    private func isExhaustive(_ results: CollectionResults) async -> Bool {
        let request = results.request
        guard !request.orders.isEmpty, request.filters.isEmpty, results.error == nil,
            let size = try? await GetCollectionSize.call(.init(collection: request.path), in: context).documentCount,
            size <= Self.maximumCountedSize, let query = try? CollectionQuery(request).query
        else { return false }
        if results.isComplete { return results.documents.count == size }
        return await BoundedCount(query, atMost: size, in: context)?.value == size
    }

    /// The size of the largest collection whose documents with a field are counted.
    private static let maximumCountedSize = 20_000

    private func submittedForm(of view: CollectionRequest) async -> SubmittedFilterForm? {
        await SubmittedFilterForm(request.query, of: view) { field in
            // The first documents show the types well enough, and an unreadable or forbidden collection has none.
            let sample = await request.resultIfPermitted { () async throws(StatusError) in
                try await ListDocuments.call(.init(collection: view.path, pageSize: 100), in: context)
            }
            let documents = (sample?.documents ?? []).compactMap { listed -> Document? in
                if case .document(let document) = listed { try? document.decoded() } else { nil }
            }
            return CollectionColumns(of: documents, fields: [], chosen: [field]).shown.first?.types ?? []
        }
    }

    func page(of path: CollectionPath) async throws(StatusError) -> any Page {
        var view = try CollectionRequest(path: path, query: request.query)
        if let form = await submittedForm(of: view) { view = form.request }
        let results = try await CollectionResults(view, in: context)
        let contents = CollectionContents(
            results,
            count: await BoundedCount(results, in: context),
            isExhaustive: await isExhaustive(results),
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
