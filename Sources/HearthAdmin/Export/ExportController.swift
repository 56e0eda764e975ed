import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The controller for the exports of collections.
struct ExportController {
    let request: AdminRequest

    private var context: ServiceContext { request.context }

    /// Returns the export that a URL requests; `nil` for other URLs.
    func respond(at segments: [UTF8Key]) async -> PageResponse? {
        let query = request.query
        guard query["export"] != nil else { return nil }
        do {
            guard case .collection(let path) = try ResourcePath(segments) else { return nil }
            guard let export = CollectionExport(query, of: try CollectionRequest(path: path, query: query)) else {
                throw StatusError(
                    .invalidArgument,
                    "Expected one of the formats \(ExportFormat.allCases.map(\.rawValue).joined(separator: ", "))."
                )
            }
            await context.audit(.exportDocuments, on: path.string, detail: "format \(export.format.rawValue)")
            if export.format == .atom {
                let feed = try await AtomFeed(
                    of: path,
                    origin: request.shellCommands.origin,
                    now: request.now,
                    in: context
                )
                let xml = feed.xml
                let body = StreamingBody { send in try await send(xml) }
                return .export(export, export.isCompressed ? body.compressed : body)
            }
            let readTime = try await context.safePosition().lastCommitTime
            try await export.verifyReadability(at: readTime, in: context)
            return .export(
                export,
                try await export.body(at: readTime, in: context, reporting: request.environment.errors.recordAndRedact)
            )
        } catch let unreadable as CollectionExport.UnreadableDocuments {
            return await request.respond(with: DamagedExportPage(request.http, of: unreadable.collection, unreadable.errors))
        } catch let error as CollectionQuery.ValidationError {
            return await request.respond(with: ErrorPage(StatusError(.invalidArgument, error.message)))
        } catch {
            return await request.respond(to: error as? StatusError ?? StatusError(.internal, "The export failed.", cause: error))
        }
    }
}
