import HearthHTTP
import UTF8Text

/// The controller for static files.
struct AssetController {
    let request: AdminRequest

    /// Responds with the static file that has a name.
    func show(_ name: UTF8Key) async -> PageResponse {
        guard let file = request.environment.assets.files[name] else { return await request.respond(with: ErrorPage.notFound) }
        return .file(
            file,
            isVersioned: request.query["v"] == UTF8Key(file.tag.digits),
            isNotModified: request.http.ifNoneMatch.map(file.tag.matches) ?? false
        )
    }
}
