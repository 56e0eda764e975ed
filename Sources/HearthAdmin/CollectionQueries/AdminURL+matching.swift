import DocumentModel
import UTF8Text

extension AdminURL {
    /// The page that deletes the documents matching the filters of a request.
    static func delete(matching request: CollectionRequest) -> String {
        url("delete", matching: request)
    }

    /// The page that changes a field of the documents matching the filters of a request.
    static func edit(matching request: CollectionRequest) -> String {
        url("edit", matching: request)
    }

    private static func url(_ action: StaticString, matching request: CollectionRequest) -> String {
        let items: [(name: StaticString, value: UTF8Key)] = request.filters.compactMap(\.text).map { ("where", $0) }
        return collection(request.path) + query([(action, "found")] + items)
    }
}

extension CollectionRequest {
    /// The collection and the filters, as the subject of a job.
    var subject: String {
        ([path.string] + filters.compactMap(\.text?.string)).joined(separator: " · ")
    }
}
