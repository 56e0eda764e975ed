import DocumentModel
import DocumentStore
import HearthAPI
import StrictJSON

extension AdminPages {
    /// Handles `/admin/data/…`: the page of a collection or document, its actions, live updates, exports and files.
    func data(at segments: [UTF8Key], for request: PageRequest) async -> PageResponse {
        if let token = request.query["live"] {
            await liveUpdates(of: segments, resumingAt: token, for: request)
        } else if let action = DataAction(request.query) {
            await perform(action, at: segments, for: request)
        } else if let location = canonicalFilterURL(at: segments, query: request.query) {
            .redirect(to: location)
        } else if let response = await export(at: segments, for: request) {
            response
        } else if let response = await file(at: segments, for: request) {
            response
        } else {
            await respond(with: dataPage(at: segments, for: request))
        }
    }

    private func perform(_ action: DataAction, at segments: [UTF8Key], for request: PageRequest) async -> PageResponse {
        do throws(StatusError) {
            switch (action, try ResourcePath(segments)) {
            case (.edit, .document(let path)): return await edit(path, for: request)
            case (.new, .collection(let path)): return await create(in: path, for: request)
            case (.delete, .document(let path)): return await delete(path, for: request)
            case (.delete, .collection(let path)): return await delete(path, for: request)
            case (.history, .document(let path)): return await history(of: path, for: request)
            case (.restore, .document(let path)): return await restore(path, for: request)
            default: return await respond(with: ErrorPage.notFound)
            }
        } catch {
            return await respond(to: error)
        }
    }

    private func dataPage(at segments: [UTF8Key], for request: PageRequest) async -> any Page {
        let query = request.query
        do throws(StatusError) {
            return switch try ResourcePath(segments) {
            case .collection(let path): try await collectionPage(path, query: query, commands: shellCommands(for: request))
            case .document(let path): try await documentPage(path, showsJSON: query["view"] == "json")
            }
        } catch {
            if error.code.httpStatus >= 500 { log(error) }
            var page = ErrorPage(error)
            // The breadcrumbs show a path only when it is valid.
            if (try? ResourcePath(segments)) != nil { page.layout = PageLayout(at: segments) }
            return page
        }
    }
}

extension AdminPages {
    /// Returns the shareable URL that a submitted filter form redirects to; nil for other requests and incomplete forms.
    private func canonicalFilterURL(at segments: [UTF8Key], query: URLQuery) -> String? {
        guard case .collection(let path)? = try? ResourcePath(segments),
            let request = try? CollectionRequest(path: path, query: query),
            let form = SubmittedFilterForm(query, of: request), !form.isIncomplete
        else { return nil }
        return form.request.url()
    }

    private func collectionPage(
        _ path: CollectionPath,
        query: URLQuery,
        commands: ShellCommands
    ) async throws(StatusError) -> any Page {
        var request = try CollectionRequest(path: path, query: query)
        if let form = SubmittedFilterForm(query, of: request) { request = form.request }
        let results = try await CollectionResults(request, in: context)
        let collection = CollectionViewModel(results, count: await BoundedCount(results, in: context), commands: commands)
        // Invalid filters have no results, so the page shows only the filter form.
        guard results.error == nil else { return CollectionTablePage(collection) }
        return switch request.view {
        case .table: CollectionTablePage(collection)
        case .map: CollectionMapPage(collection)
        case .colors: CollectionColorsPage(collection)
        case .json: CollectionJSONPage(collection)
        case .types: try await CollectionTypesPage(collection, in: context)
        }
    }

    private func documentPage(_ path: DocumentPath, showsJSON: Bool) async throws(StatusError) -> any Page {
        let position = context.store.position
        let document: Document
        do throws(StatusError) {
            document = try await GetDocument.call(.init(path: path), in: context).decoded()
        } catch {
            switch error.code {
            case .notFound: return MissingDocumentPage(path, subcollections: try await SubcollectionList(of: path, in: context))
            case .dataLoss:
                return DamagedDocumentPage(path, error, subcollections: try await SubcollectionList(of: path, in: context))
            default: throw error
            }
        }
        if showsJSON { return DocumentJSONPage(document, now: dependencies.now()) }
        let subcollections = try await SubcollectionList(of: path, in: context)
        return DocumentFieldsPage(
            document,
            subcollections: subcollections,
            liveStream: LiveStreamURL(path, since: position),
            now: dependencies.now()
        )
    }
}
