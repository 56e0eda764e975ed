import DocumentModel
import DocumentStore

/// The evaluation of a query over all documents, one by one: the document model's own matching, without indexes.
struct NaiveQuery {
    let query: NormalizedQuery

    /// Returns the result: the matches in order, between offset and limit, or the nearest of them in a vector search.
    func run(on documents: some Sequence<EncodedDocument>) throws(StatusError) -> [EncodedDocument] {
        let found = try matches(in: documents)
        guard let search = query.vectorSearch else { return found.map { projected($0, distance: nil) } }
        let near = found.compactMap { match in search.distance(of: match.fields).map { (match: match, distance: $0) } }
            .sorted { search.measure == .dotProduct ? $0.distance > $1.distance : $0.distance < $1.distance }
        return near.prefix(search.limit).map { projected($0.match, distance: $0.distance) }
    }

    /// Returns the matches in order, between offset and limit, with all fields.
    func matches(in documents: some Sequence<EncodedDocument>) throws(StatusError) -> [Document] {
        var matches: [(document: Document, key: NormalizedQuery.SortKey)] = []
        for encoded in documents where query.source.contains(encoded.path) {
            let document = try encoded.decoded()
            guard let key = query.match(document.fields, at: document.path) else { continue }
            matches.append((document, key))
        }
        let sorted = matches.sorted { query.compare($0.key, $1.key) == .less }.map(\.document)
        let found = Array(sorted.dropFirst(query.offset).prefix(query.limit ?? .max))
        return query.isReversed ? found.reversed() : found
    }

    private func projected(_ document: Document, distance: Double?) -> EncodedDocument {
        var document = document
        document.fields = query.projected(document.fields, distance: distance)
        return EncodedDocument(document)
    }
}
