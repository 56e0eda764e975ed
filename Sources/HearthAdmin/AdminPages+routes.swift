import HTTPTypes
package import Hummingbird
import NIOCore

extension AdminPages {
    /// Adds `/`, `/admin` and everything below it.
    package func addRoutes(to router: some RouterMethods) {
        for path: RouterPath in ["/", "/admin", "/admin/**"] {
            router.get(path) { request, _ in
                let response = await response(to: PageRequest(request))
                return Response(
                    status: response.status,
                    headers: response.headers,
                    body: ResponseBody(byteBuffer: ByteBuffer(bytes: response.body))
                )
            }
            router.head(path) { request, _ in
                let response = await response(to: PageRequest(request))
                var headers = response.headers
                headers[.contentLength] = String(response.body.count)
                return Response(status: response.status, headers: headers)
            }
        }
    }
}

extension AdminPages.PageRequest {
    fileprivate init(_ request: Request) {
        self.init(
            path: request.uri.path,
            query: request.uri.query,
            host: request.head.authority,
            knownTags: request.headers[.ifNoneMatch]
        )
    }
}
