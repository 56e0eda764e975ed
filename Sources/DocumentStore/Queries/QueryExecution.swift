internal import DocumentModel
internal import StrictJSON

/// Finds the documents of a query in a snapshot of the index, on one thread.
///
/// What the index gives are candidates: each document is read, as it was at the time of the query, and the query itself says
/// whether it belongs to the result. So nothing that the index can't express, and nothing that people changed in the files,
/// makes a result wrong.
///
/// There are four ways:
///
/// - *walk*: through the index in the order of the query, until there are enough;
/// - *merge*: through the entries of equal values, which are in the order of names, for a query that is in this order;
/// - *sort*: to all documents that fulfil some condition, of which the first are kept;
/// - *rings*: to the places around a point, in growing circles, for a query that is ordered by distance.
///
/// Whether walking or sorting is less work is often not known before. Then walking begins, and when it takes more than sorting
/// would, which is counted now and then up to that bound, the rest is sorted: so never much more is done than the less.
final class QueryExecution {
    let query: NormalizedQuery
    let index: IndexScanning
    let documents: DocumentsAtTime
    let alternatives: [QueryAlternative]
    /// What is indexed beside single fields, and what isn't.
    let rules: IndexRules
    var plan: [String] = []
    var selection: QuerySelection
    /// The documents that have changed since the time, which are looked at apart from the others.
    private var changed: Set<DocumentPath> = []
    /// The only fields that are wanted; what the query says when nil.
    private let mask: [FieldPath]?
    /// The fields at the top that have to be looked at; all when nil.
    private let neededNames: [UTF8Key]?

    init(
        _ query: NormalizedQuery,
        _ snapshot: IndexSnapshot,
        _ documents: DocumentsAtTime,
        maximumBytes: Int,
        mask: [FieldPath]? = nil
    ) throws(StatusError) {
        self.query = query
        self.documents = documents
        self.mask = mask
        neededNames = query.neededNames
        let names = QueryNames(query.source)
        index = IndexScanning(snapshot, names)
        let rules = try snapshot.rules(of: names.collection)
        self.rules = rules
        alternatives = query.filter.alternatives.map { QueryAlternative($0, of: query, names, rules) }
        selection = QuerySelection(query, maximumBytes: maximumBytes)
        try checkExemptions()
    }

    /// What the query took.
    var work: QueryWork {
        QueryWork(plan: plan, entriesScanned: index.rows, documentsRead: documents.readCount)
    }

    /// The documents of the result.
    func run() throws(StatusError) -> [EncodedDocument] {
        if query.limit != 0, !alternatives.isEmpty {
            try takeChanged()
            try select()
        } else {
            plan.append("Nothing can be in the result")
        }
        return try selection.result { found throws(StatusError) in
            guard let document = try documents.document(at: found.path) else { return nil }
            return query.shaped(document, try document.decoded().fields, found.distance, mask)
        }
    }

    /// Looks at a document that may be in the result; nil when it isn't.
    ///
    /// - Parameter alternative: The only one of the filter's that counts, where the document comes once for each.
    func find(_ path: DocumentPath, by alternative: Int? = nil) throws(StatusError) -> FoundDocument? {
        guard let (document, fields, key) = try match(path, by: alternative) else { return nil }
        return FoundDocument(document, fields, key, of: query, mask)
    }

    /// Reads a document that may be in the result; nil when it isn't.
    ///
    /// - Parameter alternative: The only one of the filter's that counts, where the document comes once for each: then it counts
    ///   with the first that it fulfils.
    func match(
        _ path: DocumentPath,
        by alternative: Int? = nil
    ) throws(StatusError) -> (EncodedDocument, fields: MapValue, key: NormalizedQuery.SortKey)? {
        guard !changed.contains(path) else { return nil }
        try index.snapshot.checkCancellation()
        guard let document = try documents.document(at: path) else { return nil }
        let fields = try neededFields(of: document)
        if let alternative, alternatives.count > 1, query.filter.firstMatch(fields, at: path) != alternative { return nil }
        return query.match(fields, at: path).map { (document, fields, $0) }
    }
}

extension QueryExecution {
    /// What the query has to know of a document's fields.
    func neededFields(of document: EncodedDocument) throws(StatusError) -> MapValue {
        if let neededNames { try document.fields(named: neededNames) } else { try document.decoded().fields }
    }

    /// Looks at the documents that were changed between the time and the snapshot, as they were.
    private func takeChanged() throws(StatusError) {
        try forEachChanged { document throws(StatusError) in
            let fields = try neededFields(of: document)
            guard let key = query.match(fields, at: document.path) else { return true }
            if let found = FoundDocument(document, fields, key, of: query, mask) { try selection.add(found) }
            return true
        }
        try selection.takeGroupAsStrays()
    }

    /// Whether documents were changed between the time and the snapshot.
    var hasChanged: Bool { documents.time < index.snapshot.commitTime ?? .minimum }

    /// Calls `body` with the documents of the source that were changed between the time and the snapshot, as they were, until it
    /// returns false. They are passed over from then on.
    func forEachChanged(_ body: (EncodedDocument) throws(StatusError) -> Bool) throws(StatusError) {
        guard hasChanged else { return }
        let view = try documents.newView()
        let places = try view.places(in: query.source)
        guard !places.isEmpty else { return }
        changed = Set(places.keys)
        plan.append("Take \(places.count) documents that were written since as they were")
        let sorted = places.sorted { ($0.value.part, $0.value.frame) < ($1.value.part, $1.value.frame) }
        for start in stride(from: 0, to: sorted.count, by: Self.imageCount) {
            try index.snapshot.checkCancellation()
            let some = sorted[start..<min(start + Self.imageCount, sorted.count)]
            for case (_, let image?) in try view.images(of: Dictionary(uniqueKeysWithValues: some.map { ($0.key, $0.value) })) {
                guard try body(image) else { return }
            }
        }
    }

    /// How many documents are taken from the journal at once.
    private static let imageCount = 256
}
