import UTF8Text

extension AdminURL {
    /// The page that deletes the documents matching the filters of a request.
    static func delete(matching request: CollectionRequest) -> String {
        let items: [(name: StaticString, value: UTF8Key)] = request.filters.compactMap(\.text).map { ("where", $0) }
        return collection(request.path) + query([("delete", "found")] + items)
    }
}
