import DocumentModel
import HearthAPI
import UTF8Text

/// The controller for the streams of live updates.
struct LiveUpdateController {
    let request: AdminRequest

    private var context: ServiceContext { request.context }

    /// Opens the stream of live updates for a page.
    ///
    /// - Parameter token: The resume token in the stream's URL.
    func respond(of segments: [UTF8Key], resumingAt token: UTF8Key) async -> PageResponse {
        do {
            return .live(
                try await stream(
                    of: ResourcePath(segments),
                    after: request.http.lastEventID ?? token.string,
                    query: request.query
                )
            )
        } catch let error as CollectionQuery.ValidationError {
            return await request.respond(with: ErrorPage(StatusError(.invalidArgument, error.message)))
        } catch let error as StatusError {
            return await request.respond(with: ErrorPage(request.environment.errors.presentable(error)))
        } catch {
            return await request.respond(
                with: ErrorPage(StatusError(.invalidArgument, "Live updates are not available here.", cause: error))
            )
        }
    }

    private func stream(of path: ResourcePath, after token: String, query: URLQuery) async throws -> LiveStream {
        guard let token = ResumeToken(token) else {
            throw StatusError(.invalidArgument, "The parameter live is not a resume token. Reload the page.")
        }
        let target: PreparedWatchTarget
        let contents: LiveEventEncoder.Contents
        switch path {
        case .document(let path):
            target = .document(path)
            contents = .document(expanding: query["all"]?.string)
        case .collection(let path):
            let request = try CollectionRequest(path: path, query: query)
            target = try PreparedWatchTarget(request)
            contents = request.view == .table ? .rows(try LiveColumns(query)) : .none
        }
        let watch = WatchRequest(
            target: target,
            resume: token,
            contents: contents.needsDocuments ? .document : .paths,
            coalesces: true,
            heartbeat: .seconds(30),
            retryPolicy: .streaming
        )
        let events = LiveEventEncoder(
            contents: contents,
            canWrite: request.principal.canWrite,
            hasSession: request.principal.session != nil,
            templates: request.environment.assets.templates,
            now: request.environment.clock
        )
        return LiveStream(session: try await WatchSession(watch, in: context), events: events, context: context)
    }
}
