import DocumentModel
import HTTPTypes
import HummingbirdCore

/// The check that a request is not cross-site, as protection against CSRF.
///
/// A request with an `Origin` must be same-origin or, where the route's policy allows it, from an allowed origin. Browsers omit
/// `Origin` when a page only loads or links to a resource; `Sec-Fetch-Site` then shows the initiator. Some routes allow
/// cross-site links, but never with unsafe methods.
///
/// Form submissions, which a page from any site can make, must prove that they are same-origin: without either header they are
/// rejected. API calls need no proof, because a form cannot send their media type.
struct OriginCheck: Sendable {
    let corsPolicy: CORSPolicy

    /// Verifies the origin of a request to a route.
    ///
    /// - Throws: ``HTTPFailure``: 403 for a request that may come from a page of another site.
    func verify(_ request: Request, to route: Route) throws(HTTPFailure) {
        let rules = route.policy.origins
        for origin in request.headers[values: .origin]
        where !Self.isSameOrigin(origin, authority: request.head.authority) && !corsPolicy.allows(origin, for: route) {
            throw HTTPFailure(.forbidden, .permissionDenied, "Cross-origin request rejected.")
        }
        if !rules.allowsLinks || !request.isLink, request.headers[values: .origin].isEmpty, request.isCrossSite {
            throw HTTPFailure(.forbidden, .permissionDenied, "Cross-site request rejected.")
        }
        if rules.forms.mustProveOrigin(of: request), request.headers[values: .origin].isEmpty, !request.isSameOrigin {
            throw HTTPFailure(
                .forbidden,
                .permissionDenied,
                "Form submission rejected: the request has no Origin or Sec-Fetch-Site header. "
                    + "Programs should call POST /rpc instead."
            )
        }
    }

    /// Returns whether an origin has the request's own host and port, with either scheme.
    static func isSameOrigin(_ origin: String, authority: String?) -> Bool {
        guard let authority else { return false }
        let origin = origin.utf8.map(\.lowercased)
        return ["http://", "https://"].contains { scheme in
            origin.elementsEqual(Array(scheme.utf8) + authority.utf8.map(\.lowercased))
        }
    }
}

extension RoutePolicy.FormRule {
    /// Returns whether a request may be a form of a page from another site.
    fileprivate func mustProveOrigin(of request: Request) -> Bool {
        switch self {
        case .none: false
        case .fromBrowsers: request.isFormSubmission && request.isFromBrowser
        case .fromPages: request.isFormSubmission
        }
    }
}

extension Request {
    /// True if the user agent is that of a browser.
    fileprivate var isFromBrowser: Bool {
        headers[.userAgent]?.utf8.starts(with: "Mozilla/".utf8) == true
    }

    /// True if following a link or loading a resource could have caused the request.
    fileprivate var isLink: Bool {
        [.get, .head, .options].contains(method)
    }

    /// True if an HTML form could have sent the request: forms cannot send JSON or gRPC messages.
    fileprivate var isFormSubmission: Bool {
        method == .post && !hasMediaType("application/json") && !hasMediaType("application/grpc")
    }

    /// True if `Sec-Fetch-Site` states that the initiator is a page of this server.
    var isSameOrigin: Bool {
        let sites = headers[values: .secFetchSite]
        return sites.count == 1 && HeaderListElement(sites[0].utf8).hasValue("same-origin")
    }

    /// True if `Sec-Fetch-Site` states that the initiator is a page of another site, or of another host of the same site.
    fileprivate var isCrossSite: Bool {
        headers[values: .secFetchSite].contains { value in
            let site = HeaderListElement(value.utf8)
            return site.hasValue("cross-site") || site.hasValue("same-site")
        }
    }
}
