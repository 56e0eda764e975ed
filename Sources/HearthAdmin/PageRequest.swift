import HTTPTypes
import HearthService
import StrictJSON

extension AdminPages {
    /// A request as far as the pages look at it.
    struct PageRequest: Sendable {
        let method: HTTPRequest.Method
        /// The raw path, still percent-encoded.
        let path: String
        /// The raw query.
        let query: String?
        /// The items of the query.
        let items: Query
        /// The host and port that the browser called.
        var host: String?
        /// The entity tags that the browser has.
        var knownTags: String?
        /// The header `Accept-Language`.
        var acceptedLanguages: String?
        /// The last event that a browser has seen which follows a page.
        var lastEventID: String?
        /// The fields `Cookie`.
        var cookies: [String]
        /// The origin that the browser names.
        var origin: String?
        /// Who asks.
        var visitor: Visitor
        /// What a form sent, where one was sent that is not too large.
        var form: [UInt8]?
        /// What a form with a file sent, or why it isn't taken.
        var upload: Result<Form, UploadReader.Fault>?

        init(
            method: HTTPRequest.Method = .get,
            path: String,
            query: String? = nil,
            host: String? = nil,
            knownTags: String? = nil,
            acceptedLanguages: String? = nil,
            lastEventID: String? = nil,
            cookies: [String] = [],
            origin: String? = nil,
            visitor: Visitor = Visitor(caller: .anybody),
            form: [UInt8]? = nil,
            upload: Result<Form, UploadReader.Fault>? = nil
        ) {
            (self.method, self.path, self.query, items) = (method, path, query, Query(query))
            (self.host, self.origin, self.cookies, self.visitor) = (host, origin, cookies, visitor)
            (self.knownTags, self.acceptedLanguages, self.lastEventID) = (knownTags, acceptedLanguages, lastEventID)
            (self.form, self.upload) = (form, upload)
        }
    }
}
