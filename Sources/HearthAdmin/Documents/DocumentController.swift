import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The controller for the page and the file of a document.
struct DocumentController {
    let request: AdminRequest

    private var context: ServiceContext { request.context }

    func page(of path: DocumentPath) async throws(StatusError) -> any Page {
        let position = try await context.safePosition()
        let document: Document
        do throws(StatusError) {
            document = try await GetDocument.document(.init(path: path), in: context).decoded()
        } catch {
            switch error.code {
            case .notFound: return MissingDocumentPage(path, subcollections: try await SubcollectionList(of: path, in: context))
            case .dataLoss where error.file != nil:
                return DamagedDocumentPage(path, error, subcollections: try await SubcollectionList(of: path, in: context))
            default: throw error
            }
        }
        if request.query["view"] == "json" { return DocumentJSONPage(document, now: request.now) }
        let subcollections = try await SubcollectionList(of: path, in: context)
        let expanded = request.query["all"]?.string
        return DocumentFieldsPage(
            document,
            subcollections: subcollections,
            liveStream: LiveStreamURL(path, since: position, expanding: expanded),
            canWrite: request.principal.canWrite,
            expanding: expanded,
            now: request.now
        )
    }

    /// Shows the documents that refer to a document, which need not exist.
    func references(to path: DocumentPath) async -> PageResponse {
        do throws(StatusError) {
            try context.authorize(.reader)
            return await request.respond(with: ReferencesPage(await ReferenceScan(to: path, for: request), to: path))
        } catch {
            return await request.respond(to: error)
        }
    }

    /// Returns a document's raw file; `nil` for other URLs and missing files.
    func file(at segments: [UTF8Key]) async -> PageResponse? {
        guard request.query["view"] == "file", case .document(let path)? = try? ResourcePath(segments) else { return nil }
        do throws(StatusError) {
            try context.authorize(.reader)
            return try await context.file(of: path).map { .file($0, of: path) }
        } catch {
            // The document's page shows the error.
            if error.code == .dataLoss { return nil }
            return await request.respond(to: error)
        }
    }
}
