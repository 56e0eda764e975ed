import HearthAPI
import Hummingbird
import Logging

@testable import HearthAdmin
@testable import HearthHTTP

extension AdminPages {
    /// Adds the pages to a router without the server's checks, for a caller with open access.
    func addRoutes(to router: Router<HearthRequestContext>) {
        let server = ServerResources(HTTPServerConfiguration(), context: context, logger: environment.errors.logger)
        router.add(middleware: TableMiddleware(table: RouteTable(AdminModule(self).routes(using: server))))
    }
}

private struct TableMiddleware: RouterMiddleware {
    let table: RouteTable

    func handle(
        _ request: Request,
        context: HearthRequestContext,
        next: (Request, HearthRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let route = table.route(at: request.uri.path) else { return try await next(request, context) }
        var context = context
        context.caller = .openAccess
        return try await route.respond(to: request, in: context)
    }
}
