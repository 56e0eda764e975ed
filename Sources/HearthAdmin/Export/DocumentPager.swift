import DocumentModel
import DocumentStore
import HearthAPI

/// Reads all documents of a collection or query page by page, at one read time.
///
/// Holds one page in memory. Unreadable documents are skipped and added to ``damaged``.
struct DocumentPager: Sendable {
    private let context: ServiceContext
    private let collection: CollectionPath
    /// The query; `nil` to list the whole collection.
    private let query: NormalizedQuery?
    private let consistency: ReadConsistency
    private var lastID: DocumentPath.ID?
    private var lastKey: NormalizedQuery.SortKey?
    private var isAtEnd = false
    /// The page size, reduced when documents are large.
    private var pageSize = 256
    /// The errors of unreadable documents found so far.
    private(set) var damaged: [StatusError] = []

    /// Reads the documents of a request at a read time.
    ///
    /// - Parameter readTime: The read time; `nil` for an empty database.
    init(
        _ request: CollectionRequest,
        at readTime: Timestamp?,
        in context: ServiceContext
    ) throws(CollectionQuery.ValidationError) {
        let query = request.isQuery ? try CollectionQuery(request).query : nil
        self.init(request, matching: query, at: readTime, in: context)
    }

    /// Reads the documents that match a query, at a read time or, without one, each page in its latest state.
    init(
        _ request: CollectionRequest,
        matching query: NormalizedQuery?,
        at readTime: Timestamp? = nil,
        in context: ServiceContext
    ) {
        self.context = context
        collection = request.path
        self.query = query
        consistency = ReadConsistency(readTime: readTime)
    }

    /// Returns the next page; `nil` at the end.
    mutating func next() async throws(StatusError) -> [EncodedDocument]? {
        guard !isAtEnd else { return nil }
        guard let query else { return try await nextListed() }
        while true {
            do throws(StatusError) {
                let result = try await RunQuery.call(
                    .init(query.page(after: lastKey, limit: pageSize), consistency: consistency),
                    in: context
                )
                let documents = result.documents
                recordDamaged(result.damaged)
                isAtEnd = documents.count < pageSize
                if let last = documents.last { lastKey = query.match(try last.decoded().fields, at: last.path) }
                return documents
            } catch {
                guard error.code == .resourceExhausted, pageSize > 1 else { throw error }
                pageSize /= 4
            }
        }
    }

    private mutating func nextListed() async throws(StatusError) -> [EncodedDocument] {
        let page = try await ListDocuments.call(
            .init(collection: collection, pageSize: PageSize(pageSize), after: lastID, consistency: consistency),
            in: context
        )
        recordDamaged(page.damaged)
        lastID = page.next
        isAtEnd = lastID == nil
        return page.documents.compactMap { listed in
            if case .document(let document) = listed { document } else { nil }
        }
    }

    /// Adds errors without duplicates: a query may report the same error on several pages.
    private mutating func recordDamaged(_ errors: [StatusError]) {
        for error in errors where !damaged.contains(where: { $0.file?.path == error.file?.path && $0.path == error.path }) {
            damaged.append(error)
        }
    }
}
