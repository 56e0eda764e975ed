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
            let fields = try await GetDocument.document(.init(path: document), in: context).decoded().fields
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

    /// Returns the panels of a collection with the selected document, which may be on another page.
    private func panels(of contents: CollectionContents) async throws(StatusError) -> CollectionPanelsPage {
        guard let id = contents.results.request.document else {
            return CollectionPanelsPage(contents)
        }
        let path = contents.results.request.path.document(id)
        // Taken before reading, so that the stream misses no change.
        let position = try await context.safePosition()
        let subcollections = try await SubcollectionList(of: path, in: context, view: .panels)
        var document: Document?
        do throws(StatusError) {
            document = try await GetDocument.document(.init(path: path), in: context).decoded()
        } catch {
            guard [.notFound, .dataLoss].contains(error.code) else { throw error }
        }
        let rows = document.map { FieldRowList(of: $0, canWrite: request.principal.canWrite) }
        return CollectionPanelsPage(
            contents,
            panel: DocumentPanel(
                of: path,
                document,
                rows: rows,
                subcollections: subcollections,
                on: ReturnURL(UTF8Key(request.http.pathAndQuery)),
                now: request.now
            ),
            rows: rows,
            liveStream: LiveStreamURL(path, since: position)
        )
    }

    /// Keeps the layout of a table that a form says in a cookie.
    func keepLayout(of path: CollectionPath) async -> PageResponse {
        guard let form = request.http.form.flatMap({ Form($0) }) else {
            return await request.respond(with: ErrorPage.invalidForm)
        }
        do throws(StatusError) {
            var layout = request.tableLayout(of: path)
            try layout.apply(form)
            return .seeOther(ReturnURL(form["next"]).url).settingCookie(try layout.cookie(for: path))
        } catch {
            return await request.respond(to: error)
        }
    }

    private func types(of field: FieldPath, in path: CollectionPath) async -> FieldTypes {
        await FieldTypes(of: field, in: .collection(path), for: request)
    }

    private func submittedForm(of view: CollectionRequest) async -> SubmittedFilterForm? {
        await SubmittedFilterForm(request.query, of: view) { await types(of: $0, in: view.path) }
    }

    func page(of path: CollectionPath) async throws(StatusError) -> any Page {
        var view = try CollectionRequest(path: path, query: request.query)
        if let form = await submittedForm(of: view) { view = form.request }
        let layout = request.tableLayout(of: path)
        if view.view == .table, view.columns.isEmpty { view.columns = layout.columns }
        let results = try await CollectionResults(view, in: context)
        let matches = await MatchCount(results, in: context)
        let contents = CollectionContents(
            results,
            filters: await results.request.filters.restoringAutomaticTypes { await types(of: $0, in: path) },
            count: matches.count,
            position: await position(of: results),
            isExhaustive: matches.isExhaustive,
            commands: request.shellCommands
        )
        // Filters that are invalid or need a missing index have no results, so the page shows only the filter form.
        guard results.error == nil else {
            return CollectionTablePage(contents, layout: layout, canWrite: request.principal.canWrite)
        }
        return switch view.view {
        case .table: CollectionTablePage(contents, layout: layout, canWrite: request.principal.canWrite)
        case .panels: try await panels(of: contents)
        case .map: CollectionMapPage(contents)
        case .colors: CollectionColorsPage(contents)
        case .json: CollectionJSONPage(contents)
        case .types: try await CollectionTypesPage(contents, in: context)
        }
    }
}
