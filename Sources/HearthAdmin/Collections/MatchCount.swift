import DocumentModel
import DocumentStore
import HearthAPI

/// The number of documents that match the request of a result page, and whether its order leaves any of them out.
///
/// The size of a collection is stored, and the index counts the entries of a condition or an order on one field. The intersection of
/// several fields is enumerated up to a limit.
struct MatchCount: Sendable {
    /// The number of documents; `nil` if it is unknown.
    private(set) var count: BoundedCount?
    /// True if all documents that match the filters are known to have the sort fields.
    private(set) var isExhaustive = false

    /// Counts the documents of all pages; none if the query cannot be executed.
    init(_ results: CollectionResults, in context: ServiceContext) async {
        guard results.error == nil else {
            self.init()
            return
        }
        await self.init(results.request, found: results.isComplete ? results.documents.count : nil, in: context)
    }

    private init() {}

    /// Counts the documents that match a request.
    ///
    /// - Parameter found: The number, if it is known.
    init(_ request: CollectionRequest, found: Int? = nil, in context: ServiceContext) async {
        if let found { count = BoundedCount(value: found, isLowerBound: false) }
        let size = try? await GetCollectionSize.call(.init(collection: request.path), in: context).documentCount
        guard request.isQuery else {
            isExhaustive = true
            if count == nil { count = size.map { BoundedCount(value: $0, isLowerBound: false) } }
            return
        }
        let filters = request.filters.filter { !$0.isBlank }
        let filtered = Set(filters.compactMap { try? FieldPathText.path($0.field) })
        let sorted = Set(request.orders.map(\.field)).filter { !$0.isDocumentName }
        guard !filters.isEmpty else {
            let limit = sorted.count > 1 ? Self.maximumCount : PagePositions.maximumDistance
            let isCounted = size.map { $0 <= limit } ?? false
            if count == nil {
                count = await Self.count(request, atMost: isCounted ? (size ?? 0) + 1 : Self.maximumCount, in: context)
            }
            isExhaustive = size != nil && count?.value == size
            return
        }
        isExhaustive = sorted.isSubset(of: filtered)
        if !isExhaustive, let size, size <= Self.maximumCount {
            let all = Self.changing(request) { $0.filters = [] }
            isExhaustive = await Self.count(all, atMost: size, in: context)?.value == size
        }
        // An order that leaves nothing out does not matter.
        let unsorted = Self.changing(request) { $0.orders = [] }
        if count == nil {
            let isOfOneField = filters.count == 1 && (isExhaustive ? filtered : filtered.union(sorted)).count == 1
            let isOfArea = filters.contains { $0.op == .near || $0.op == .within }
            let limit = !isOfOneField ? Self.intersectionLimit : isOfArea ? Self.areaLimit : Self.maximumCount
            count = await Self.count(isExhaustive ? unsorted : request, atMost: limit, in: context)
        }
        guard !isExhaustive, let count, !count.isLowerBound else { return }
        isExhaustive = await Self.count(unsorted, atMost: count.value + 1, in: context)?.value == count.value
    }

    private static func count(_ request: CollectionRequest, atMost limit: Int, in context: ServiceContext) async -> BoundedCount?
    {
        guard let query = try? CollectionQuery(request).query else { return nil }
        return await BoundedCount(query, atMost: limit, in: context)
    }

    private static func changing(
        _ request: CollectionRequest,
        _ change: (inout CollectionRequest) -> Void
    ) -> CollectionRequest {
        var request = request
        change(&request)
        return request
    }

    /// The limit on counting entries of the index. Conditions that it does not decide read as many documents.
    private static let maximumCount = 20_000
    private static let areaLimit = 2_000
    private static let intersectionLimit = 1_000
}
