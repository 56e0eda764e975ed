import DocumentModel
import DocumentStore
import HearthService

/// All documents that a request asks for, a page at a time, all as of one time.
///
/// It holds a page of them, however many there are. Documents that can't be read are left out; the tables name them.
struct ExportedDocuments: Sendable {
    private let context: ServiceContext
    private let collection: CollectionPath
    /// The query; nil where all documents of the collection are wanted.
    private let query: NormalizedQuery?
    private let point: ReadPoint
    private var last: DocumentID?
    private var lastKey: NormalizedQuery.SortKey?
    private var isAtEnd = false
    /// How many documents are read at once; fewer where they are large.
    private var count = 256

    /// - Parameter readTime: The time; nil for an empty database.
    init(_ request: CollectionRequest, at readTime: Timestamp?, in context: ServiceContext) throws(CollectionQuery.Fault) {
        self.context = context
        collection = request.path
        query = request.isQuery ? try CollectionQuery(request).query : nil
        point = ReadPoint(readTime: readTime)
    }

    /// The next documents; nil at the end.
    mutating func next() async throws(StatusError) -> [EncodedDocument]? {
        guard !isAtEnd else { return nil }
        guard let query else { return try await nextListed() }
        while true {
            do throws(StatusError) {
                let documents = try await RunQuery.call(
                    .init(query.page(after: lastKey, limit: count), at: point),
                    in: context
                ).documents
                isAtEnd = documents.count < count
                if let last = documents.last { lastKey = query.match(try last.decoded().fields, at: last.path) }
                return documents
            } catch {
                guard error.code == .resourceExhausted, count > 1 else { throw error }
                count /= 4
            }
        }
    }

    private mutating func nextListed() async throws(StatusError) -> [EncodedDocument] {
        let page = try await ListDocuments.call(
            .init(collection: collection, pageSize: PageSize(count), after: last, at: point),
            in: context
        )
        last = page.next
        isAtEnd = last == nil
        return page.documents.compactMap { listed in
            if case .document(let document) = listed { document } else { nil }
        }
    }
}
