import DocumentModel
import HearthAPI
import UTF8Text

/// Dispatches `/admin/data/…`: the page of a collection or document, its actions, live updates, exports and files.
struct DataRouter {
    let request: AdminRequest
    let jobRunner: JobRunner

    func respond(at segments: [UTF8Key]) async -> PageResponse {
        if let token = request.query["live"] {
            await LiveUpdateController(request: request).respond(of: segments, resumingAt: token)
        } else if let action = DataAction(request.query) {
            await perform(action, at: segments)
        } else if let response = await CollectionController(request: request).jump(at: segments) {
            response
        } else if let response = await CollectionController(request: request).valueFilter(at: segments) {
            response
        } else if let location = await CollectionController(request: request).canonicalFilterURL(at: segments) {
            .redirect(to: location)
        } else if let response = await ExportController(request: request).respond(at: segments) {
            response
        } else if let response = await DocumentController(request: request).file(at: segments) {
            response
        } else {
            await request.respond(with: page(at: segments))
        }
    }

    private func perform(_ action: DataAction, at segments: [UTF8Key]) async -> PageResponse {
        do throws(StatusError) {
            switch (action, try ResourcePath(segments)) {
            case (.edit, .document(let path)): return await EditingController(request: request).edit(path)
            case (.edit, .collection(let path)):
                return await BulkEditController(request: request, jobRunner: jobRunner).edit(path)
            case (.value, .document(let path)): return await ValueController(request: request).edit(path)
            case (.columns, .collection(let path)): return await CollectionController(request: request).keepLayout(of: path)
            case (.new, .collection(let path)): return await EditingController(request: request).create(in: path)
            case (.delete, .document(let path)): return await deletion.delete(path)
            case (.delete, .collection(let path)): return await deletion.delete(path)
            case (.history, .document(let path)): return await HistoryController(request: request).show(path)
            case (.references, .document(let path)):
                return await DocumentController(request: request).references(to: path)
            case (.restore, .document(let path)): return await HistoryController(request: request).restore(path)
            default: return await request.respond(with: ErrorPage.notFound)
            }
        } catch {
            return await request.respond(to: error)
        }
    }

    private var deletion: DeletionController { DeletionController(request: request, jobRunner: jobRunner) }

    private func page(at segments: [UTF8Key]) async -> any Page {
        do throws(StatusError) {
            return switch try ResourcePath(segments) {
            case .collection(let path): try await CollectionController(request: request).page(of: path)
            case .document(let path): try await DocumentController(request: request).page(of: path)
            }
        } catch {
            var page = ErrorPage(request.environment.errors.presentable(error))
            // The breadcrumbs show a path only when it is valid.
            if (try? ResourcePath(segments)) != nil {
                let refreshes = page.layout.refreshes
                page.layout = PageLayout(at: segments)
                page.layout.refreshes = refreshes
            }
            return page
        }
    }
}
