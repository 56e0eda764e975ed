import HTTPTypes
import HummingbirdCore

/// The routes of a server, by path.
///
/// A server has about a dozen routes: comparing the bytes of a path with theirs takes less time than hashing it.
package struct RouteTable: Sendable {
    private let routes: [Route]
    /// The routes of prefixes, longest first.
    private let prefixRoutes: [Route]
    private let unlistedPages: Route?

    /// Creates a table. No two routes may have the same path.
    ///
    /// - Parameter unlistedPages: The route of unlisted paths for browsers; `nil` for none.
    package init(_ routes: [Route], unlistedPages: Route? = nil) {
        self.unlistedPages = unlistedPages
        self.routes = routes.filter { !$0.isPrefix }
        prefixRoutes = routes.filter(\.isPrefix).sorted { $0.path.utf8.count > $1.path.utf8.count }
    }

    /// All routes, those of prefixes last.
    var all: [Route] { routes + prefixRoutes }

    /// Returns the route of a raw path without its query; `nil` for an unlisted path.
    package func route(at path: String) -> Route? {
        indexedRoute(at: path)?.route
    }

    /// Returns the route of a raw path, and its index in ``all``, if it has one.
    func indexedRoute(at path: String) -> (route: Route, index: Int?)? {
        let path = path.utf8
        if let index = exactIndex(at: path) { return (route(index), index) }
        return nonCanonicalRoute(at: path).map { ($0, nil) }
    }

    /// Returns the route of a request to an unlisted path.
    func unlistedRoute(of request: Request) -> Route {
        guard let unlistedPages, [.get, .head].contains(request.method), request.acceptsHTML else { return .unlisted }
        return unlistedPages
    }

    private func exactIndex(at path: some Collection<UInt8>) -> Int? {
        if let index = routes.firstIndex(where: { path.elementsEqual($0.path.utf8) }) { return index }
        return prefixRoutes.firstIndex { path.starts(with: $0.path.utf8) }.map { routes.count + $0 }
    }

    private func route(_ index: Int) -> Route {
        index < routes.count ? routes[index] : prefixRoutes[index - routes.count]
    }

    /// Returns the route of a path that has empty segments, such as `/rpc/`.
    private func nonCanonicalRoute(at path: String.UTF8View) -> Route? {
        let slash = UInt8(ascii: "/")
        let segments = path.split(separator: slash)
        let spelling = segments.flatMap { [slash] + $0 }
        return spelling.count == path.count ? nil : exactIndex(at: spelling).flatMap { route($0).nonCanonical }
    }
}
