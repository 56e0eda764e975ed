import HTTPTypes

extension PageResponse {
    /// Returns an export as an attachment; an uncompressed Atom feed is shown inline.
    static func export(_ export: CollectionExport, _ body: StreamingBody) -> PageResponse {
        var headers = commonHeaders
        headers[.contentType] = export.isCompressed ? "application/gzip" : export.format.mediaType
        headers[.cacheControl] = "no-store"
        headers[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'; sandbox"
        if export.format != .atom || export.isCompressed {
            // `filename` is the fallback for clients without support for `filename*`. Neither value needs escaping.
            headers[.contentDisposition] =
                "attachment; filename=\"\(export.fileName)\"; filename*=UTF-8''\(export.encodedFileName)"
        }
        return PageResponse(status: .ok, headers: headers, body: [], stream: body)
    }
}
