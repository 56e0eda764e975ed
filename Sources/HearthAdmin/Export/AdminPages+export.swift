import DocumentModel
import DocumentStore
import HearthAPI
import StrictJSON

extension AdminPages {
    /// Returns a document's raw file; nil for other URLs and missing files.
    func file(at segments: [UTF8Key], for request: PageRequest) async -> PageResponse? {
        guard request.query["view"] == "file", case .document(let path)? = try? ResourcePath(segments) else { return nil }
        do throws(StatusError) {
            try context.authorize(.reader)
            return try await context.store.file(of: path).map { .file($0, of: path) }
        } catch {
            // The document's page shows the error.
            if error.code == .dataLoss { return nil }
            if error.code.httpStatus >= 500 { log(error) }
            return await respond(with: ErrorPage(error))
        }
    }

    /// Returns the export that a URL requests; nil for other URLs.
    func export(at segments: [UTF8Key], for request: PageRequest) async -> PageResponse? {
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
            if export.format == .atom {
                let feed = try await AtomFeed(
                    of: path,
                    origin: shellCommands(for: request).origin,
                    now: dependencies.now(),
                    in: context
                )
                let xml = feed.xml
                let body = StreamingBody { send in try await send(xml) }
                return .export(export, export.isCompressed ? body.compressed : body)
            }
            let readTime = try await context.store.safePosition().lastCommitTime
            try await export.verifyReadability(at: readTime, in: context)
            return .export(export, try await export.body(at: readTime, in: context, reporting: logAndRedact))
        } catch let unreadable as CollectionExport.UnreadableDocuments {
            return await respond(with: DamagedExportPage(request, of: unreadable.collection, unreadable.errors))
        } catch let error as CollectionQuery.ValidationError {
            return await respond(with: ErrorPage(StatusError(.invalidArgument, error.message)))
        } catch let error as StatusError {
            return await respond(to: error)
        } catch {
            return await respond(with: ErrorPage(StatusError(.internal, "The export failed.", cause: error)))
        }
    }
}
