/// The routes of a server, by path.
///
/// A server has about a dozen routes: comparing the bytes of a path with theirs takes less time than hashing it.
package struct RouteTable: Sendable {
    private let routes: [Route]
    /// The routes of prefixes, longest first.
    private let prefixRoutes: [Route]

    /// Creates a table. No two routes may have the same path.
    package init(_ routes: [Route]) {
        self.routes = routes.filter { !$0.isPrefix }
        prefixRoutes = routes.filter(\.isPrefix).sorted { $0.path.utf8.count > $1.path.utf8.count }
    }

    /// Returns the route of a raw path without its query; `nil` for an unlisted path.
    package func route(at path: String) -> Route? {
        let path = path.utf8
        return exactRoute(at: path) ?? nonCanonicalRoute(at: path)
    }

    private func exactRoute(at path: some Collection<UInt8>) -> Route? {
        routes.first { path.elementsEqual($0.path.utf8) } ?? prefixRoutes.first { path.starts(with: $0.path.utf8) }
    }

    /// Returns the route of a path that has empty segments, such as `/rpc/`.
    private func nonCanonicalRoute(at path: String.UTF8View) -> Route? {
        let slash = UInt8(ascii: "/")
        let segments = path.split(separator: slash)
        let spelling = segments.flatMap { [slash] + $0 }
        return spelling.count == path.count ? nil : exactRoute(at: spelling)?.nonCanonical
    }
}
