import DocumentModel
import DocumentStore
import HearthAPI

/// The search for documents that refer to a document, with the rights of the caller.
///
/// No index has the references of all fields, so the index is searched field by field. The fields are those with references or arrays in
/// a sample of each collection: its first and last documents. A search costs two small queries for each collection, and one index scan
/// for each field. It ends when its limits are reached, or its task is cancelled.
struct ReferenceScan: Sendable {
    /// The documents among which a field is searched.
    enum Source: Hashable, Sendable {
        case collection(CollectionPath)
        /// The collections with an ID, in the whole database.
        case group(CollectionID)

        fileprivate var ofQuery: StructuredQuery.Source {
            switch self {
            case .collection(let path): .collection(path)
            case .group(let id): .collectionGroup(id, below: nil)
            }
        }
    }

    /// The limits of a whole search.
    struct Limits: Sendable {
        /// The maximum number of fields of all sources.
        var fieldCount = 300
        /// The number of seconds after which no further query begins.
        var seconds = 5
    }

    /// The documents that refer to the document in one field.
    struct Match: Sendable {
        let source: Source
        let field: FieldPath
        /// True if an element of the field's array is the reference.
        let isElement: Bool
        let documents: [DocumentPath]
        /// True if there are more documents.
        let hasMore: Bool
    }

    private(set) var matches: [Match] = []
    /// True if not all collections or fields were searched.
    private(set) var isPartial = false
    /// True if there may be subcollections of documents that were not examined.
    private(set) var omitsSubcollections = false

    /// The maximum number of root collections, and of collections or collection groups below them.
    private static let collectionLimit = 100
    /// The number of documents at each end of a collection whose fields are searched.
    static let sampleSize = 100
    private static let fieldLimit = 100
    private static let documentLimit = 25

    private var fieldsLeft: Int
    /// The microseconds since 1970 at which the search ends.
    private let deadline: Int64

    /// Searches the collections for references to a document, which need not exist.
    init(to document: DocumentPath, for request: AdminRequest, limits: Limits = Limits()) async {
        (fieldsLeft, deadline) = (limits.fieldCount, request.now.microseconds + Int64(limits.seconds) * 1_000_000)
        for source in await sources(for: request) {
            for (field, isElement) in await fields(in: source, for: request) {
                guard mayContinue(request) else { return }
                fieldsLeft -= 1
                let condition: Condition = isElement ? .arrayContains(.reference(document)) : .equal(.reference(document))
                let query = StructuredQuery(
                    source.ofQuery,
                    where: .field(field, condition),
                    limit: .first(Self.documentLimit + 1),
                    projection: [.documentName]
                )
                guard let found = await Self.paths(query, for: request) else {
                    isPartial = true
                    continue
                }
                guard !found.isEmpty else { continue }
                matches.append(
                    Match(
                        source: source,
                        field: field,
                        isElement: isElement,
                        documents: Array(found.prefix(Self.documentLimit)),
                        hasMore: found.count > Self.documentLimit
                    )
                )
            }
        }
    }

    /// Returns `false` if a limit is reached or the task is cancelled, with which the search becomes partial.
    private mutating func mayContinue(_ request: AdminRequest) -> Bool {
        if !Task.isCancelled, fieldsLeft > 0, request.now.microseconds < deadline { return true }
        isPartial = true
        return false
    }

    /// Returns the root collections with the collection groups below them. For a caller that is restricted to collections, which no
    /// group is, returns these with the subcollections below them.
    private mutating func sources(for request: AdminRequest) async -> [Source] {
        let context = request.context
        if let permitted = context.caller.collections {
            let roots = limited(permitted)
            let below = limited(await subcollections(below: roots, for: request).filter { !roots.contains($0) })
            return (roots + below).map { .collection($0) }
        }
        let page = await request.resultIfPermitted { () async throws(StatusError) in
            try await ListCollections.call(.init(pageSize: PageSize(Self.collectionLimit)), in: context)
        }
        if page?.next != nil { isPartial = true }
        let roots = (page?.collections ?? []).map { CollectionPath(parent: nil, id: $0) }
        let groups = limited(await subcollections(below: roots, for: request).map(\.id))
        return roots.filter { !groups.contains($0.id) }.map { .collection($0) } + groups.map { .group($0) }
    }

    /// Returns the first elements without duplicates, at most ``collectionLimit``.
    private mutating func limited<Element: Hashable>(_ elements: [Element]) -> [Element] {
        var found: Set<Element> = []
        let distinct = elements.filter { found.insert($0).inserted }
        if distinct.count > Self.collectionLimit { isPartial = true }
        return Array(distinct.prefix(Self.collectionLimit))
    }

    /// Returns the subcollections in the first documents of collections.
    private mutating func subcollections(below roots: [CollectionPath], for request: AdminRequest) async -> [CollectionPath] {
        var found: [CollectionPath] = []
        for root in roots {
            guard mayContinue(request) else { break }
            let scan = await request.resultIfPermitted { () async throws(StatusError) in
                try await SubcollectionScan(below: root, limit: Self.sampleSize, in: request.context)
            }
            if scan?.isComplete != true { omitsSubcollections = true }
            found += scan?.subcollections ?? []
        }
        return found
    }

    /// Returns the fields with references, and those with arrays, in the first and last documents of a source.
    private mutating func fields(
        in source: Source,
        for request: AdminRequest
    ) async -> [(field: FieldPath, isElement: Bool)] {
        var sample: [Document] = []
        for direction in [StructuredQuery.Order.Direction.ascending, .descending] {
            guard mayContinue(request) else { return [] }
            let query = StructuredQuery(
                source.ofQuery,
                orders: [StructuredQuery.Order(.field(.documentName), direction)],
                limit: .first(Self.sampleSize)
            )
            let found = await request.resultIfPermitted { () async throws(StatusError) in
                try await RunQuery.call(.init(NormalizedQuery(query)), in: request.context).documents
            }
            if found == nil { isPartial = true }
            sample += (found ?? []).compactMap { try? $0.decoded() }
            if (found ?? []).count < Self.sampleSize { break }
        }
        var fields: [(FieldPath, Bool)] = []
        for field in CollectionColumns.fields(of: sample, limit: Self.fieldLimit) {
            let values = sample.compactMap { $0.fields[field] }
            if values.contains(where: { if case .reference = $0 { true } else { false } }) { fields.append((field, false)) }
            if values.contains(where: { if case .array = $0 { true } else { false } }) { fields.append((field, true)) }
        }
        if fields.count > Self.fieldLimit { isPartial = true }
        return Array(fields.prefix(Self.fieldLimit))
    }

    private static func paths(_ query: StructuredQuery, for request: AdminRequest) async -> [DocumentPath]? {
        await request.resultIfPermitted { () async throws(StatusError) in
            try await RunQuery.call(.init(NormalizedQuery(query)), in: request.context).documents.map(\.path)
        }
    }
}
