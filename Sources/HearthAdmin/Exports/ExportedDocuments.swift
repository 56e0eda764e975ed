import DocumentModel
import DocumentStore
import HearthService

/// All documents that a request asks for, a page at a time, all as of one time.
///
/// It holds a page of them, however many there are. Documents that can't be read are left out, and named by ``damaged``.
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
    /// What of it can't be read, as far as was read.
    private(set) var damaged: [StatusError] = []

    /// All that a request asks for, as of a time.
    ///
    /// - Parameter readTime: The time; nil for an empty database.
    init(_ request: CollectionRequest, at readTime: Timestamp?, in context: ServiceContext) throws(CollectionQuery.Fault) {
        let query = request.isQuery ? try CollectionQuery(request).query : nil
        self.init(request, finding: query, at: readTime, in: context)
    }

    /// What a query of a request's collection finds: as of a time, or without one each page as it is when it is read.
    init(
        _ request: CollectionRequest,
        finding query: NormalizedQuery?,
        at readTime: Timestamp? = nil,
        in context: ServiceContext
    ) {
        self.context = context
        collection = request.path
        self.query = query
        point = ReadPoint(readTime: readTime)
    }

    /// The next documents; nil at the end.
    mutating func next() async throws(StatusError) -> [EncodedDocument]? {
        guard !isAtEnd else { return nil }
        guard let query else { return try await nextListed() }
        while true {
            do throws(StatusError) {
                let answer = try await RunQuery.call(.init(query.page(after: lastKey, limit: count), at: point), in: context)
                let documents = answer.documents
                note(answer.damaged)
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
        note(page.damaged.map(\.error))
        last = page.next
        isAtEnd = last == nil
        return page.documents.compactMap { listed in
            if case .document(let document) = listed { document } else { nil }
        }
    }

    /// Notes what can't be read, which queries tell of on more than one page.
    private mutating func note(_ errors: [StatusError]) {
        for error in errors where !damaged.contains(where: { $0.file?.path == error.file?.path && $0.path == error.path }) {
            damaged.append(error)
        }
    }
}
