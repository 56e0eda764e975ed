import DocumentModel
import HearthService
import StrictJSON

/// The stream that a page is followed by.
struct LiveStream: Sendable {
    let session: WatchSession
    let events: LiveEvents
    /// The caller's, in the database of the page.
    let context: ServiceContext
}

extension AdminPages {
    /// Answers a page that follows what it shows.
    ///
    /// - Parameter token: From where on, as the page's own address says.
    func follow(_ segments: [UTF8Key], after token: UTF8Key, for request: PageRequest) async -> PageResponse {
        do {
            return .live(
                try await stream(of: DataPath(segments), after: request.lastEventID ?? token.string, query: request.items)
            )
        } catch let fault as CollectionQuery.Fault {
            return await respond(with: ProblemPage(StatusError(.invalidArgument, fault.message)))
        } catch let error as StatusError {
            return await respond(with: ProblemPage(error))
        } catch {
            return await respond(with: ProblemPage(StatusError(.invalidArgument, "This can’t be followed.", cause: error)))
        }
    }

    private func stream(of path: DataPath, after token: String, query: Query) async throws -> LiveStream {
        guard let token = WatchToken(token) else {
            throw StatusError(.invalidArgument, "The parameter live is not the token of a page. Load the page again.")
        }
        let target: WatchTarget
        let contents: LiveEvents.Contents
        switch path {
        case .document(let path):
            target = .document(path)
            contents = .document
        case .collection(let path):
            let request = try CollectionRequest(path: path, query: query)
            target = try WatchTarget(request)
            contents = request.view == .table ? .rows(try LiveColumns(query)) : .nothing
        }
        let watch = WatchRequest(
            target: target,
            resume: token,
            contents: contents.needsDocuments ? .document : .paths,
            coalesces: true,
            heartbeat: .seconds(30),
            patience: .ofStreams
        )
        let events = LiveEvents(
            contents: contents,
            mayWrite: visit.visitor.mayWrite,
            templates: assets.templates,
            now: surroundings.now
        )
        return LiveStream(session: try await WatchSession(watch, in: context), events: events, context: context)
    }
}
