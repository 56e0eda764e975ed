import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

extension AdminPages {
    /// A document's file as it is on disk, to look at or keep; nil where the address asks for something else, or there is none.
    func file(at segments: [UTF8Key], for request: PageRequest) async -> PageResponse? {
        guard request.items["view"] == "file", case .document(let path)? = try? DataPath(segments) else { return nil }
        do throws(StatusError) {
            try context.authorize(.reader)
            return try await context.store.file(of: path).map { .file($0, of: path) }
        } catch {
            // What stands in its place the page of the document tells.
            if error.code == .dataLoss { return nil }
            if error.code.httpStatus >= 500 { log(error) }
            return await respond(with: ProblemPage(error))
        }
    }

    /// The export that an address asks for; nil where it asks for a page.
    func export(at segments: [UTF8Key], for request: PageRequest) async -> PageResponse? {
        let query = request.items
        guard query["export"] != nil else { return nil }
        do {
            guard case .collection(let path) = try DataPath(segments) else { return nil }
            guard let export = CollectionExport(query, of: try CollectionRequest(path: path, query: query)) else {
                throw StatusError(
                    .invalidArgument,
                    "Expected one of the formats \(ExportFormat.allCases.map(\.rawValue).joined(separator: ", "))."
                )
            }
            if export.format == .atom {
                let feed = try await AtomFeed(
                    of: path,
                    host: curl(for: request).origin,
                    now: surroundings.now(),
                    in: context
                )
                let xml = feed.xml
                let body = BodyStream { send in try await send(xml) }
                return .export(export, export.isCompressed ? body.compressed : body)
            }
            let readTime = try await context.store.settledPosition().lastCommitTime
            try await export.check(at: readTime, in: context)
            return .export(export, try await export.body(at: readTime, in: context, reporting: logged))
        } catch let damage as CollectionExport.Damage {
            return await respond(with: DamagedExportPage(request, of: damage.collection, damage.errors))
        } catch let fault as CollectionQuery.Fault {
            return await respond(with: ProblemPage(StatusError(.invalidArgument, fault.message)))
        } catch let error as StatusError {
            return await respond(to: error)
        } catch {
            return await respond(with: ProblemPage(StatusError(.internal, "The export failed.", cause: error)))
        }
    }
}
