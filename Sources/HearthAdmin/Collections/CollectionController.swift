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

    /// Returns a redirect to the page that `?position=`, `?id=` or `?page=last` leads to; `nil` for other URLs, and for input that leads
    /// nowhere.
    func jump(at segments: [UTF8Key]) async -> PageResponse? {
        guard let jump = PageJump(request.query), case .collection(let path)? = try? ResourcePath(segments),
            let view = try? CollectionRequest(path: path, query: request.query)
        else { return nil }
        do {
            return try await PagePositions(context: context).url(of: jump, in: view).map { .seeOther($0) }
        } catch let error as StatusError where error.code != .outOfRange {
            return await request.respond(to: error)
        } catch {
            // The page shows what is wrong with the query or the position.
            return nil
        }
    }

    /// Returns the position of a page of results.
    private func position(of results: CollectionResults) async -> PagePosition {
        var position = PagePosition()
        if let jump = PageJump(request.query) {
            let limit = results.request.isQuery ? PagePositions.maximumQueryPosition : PagePositions.maximumDistance
            position.problem =
                switch jump {
                case .invalid(let reason): reason
                default:
                    localized(
                        "Only positions within {limit} documents of the first or last one can be reached.",
                        ["limit": NumberFormat.grouped(limit)]
                    )
                }
        }
        guard results.error == nil, let first = results.documents.first else { return position }
        if results.request.cursor == nil {
            position.first = 1
        } else if results.request.isQuery {
            position.first = results.request.position
        } else {
            let found = await request.resultIfPermitted { () async throws(StatusError) in
                try await PagePositions(context: context).position(of: first.path)
            }
            position.first = found ?? nil
        }
        return position
    }

    /// Returns a redirect to the documents with the value of a field of one document, `?only=author&of=hitchhiker`, or to those with
    /// another value, `?not=author&of=hitchhiker`; `nil` for other URLs.
    func valueFilter(at segments: [UTF8Key]) async -> PageResponse? {
        let items = request.query
        guard let id = items["of"], let text = items["only"] ?? items["not"],
            case .collection(let path)? = try? ResourcePath(segments)
        else { return nil }
        do throws(StatusError) {
            let view = try CollectionRequest(path: path, query: items)
            let field = try FieldPathText.path(text.string)
            let document = path.document(try DocumentPath.ID(id.string))
            let fields = try await GetDocument.call(.init(path: document), in: context).decoded().fields
            guard let value = fields[field] else { return .seeOther(view.url()) }
            let filter = ValueFilter(field: field, value: value, relation: items["only"] == nil ? .not : .only)
            guard let url = filter.url(in: view) else {
                throw StatusError(
                    .invalidArgument,
                    "The value is too long for a filter, or ten values of the field are excluded already.",
                    path: document.string,
                    field: field.description
                )
            }
            return .seeOther(url)
        } catch {
            return await request.respond(to: error)
        }
    }

    private func submittedForm(of view: CollectionRequest) async -> SubmittedFilterForm? {
        await SubmittedFilterForm(request.query, of: view) { field in
            await FieldTypes(of: field, in: .collection(view.path), for: request)
        }
    }

    func page(of path: CollectionPath) async throws(StatusError) -> any Page {
        var view = try CollectionRequest(path: path, query: request.query)
        if let form = await submittedForm(of: view) { view = form.request }
        let results = try await CollectionResults(view, in: context)
        let contents = CollectionContents(
            results,
            count: await BoundedCount(results, in: context),
            position: await position(of: results),
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
