internal import DocumentModel

/// What the index can tell of one of a filter's alternatives.
struct QueryAlternative: Sendable {
    /// The entries that the predicates leave, a list for each that has one.
    private(set) var scans: [FieldScan] = []
    /// Entries of indexes of several fields that the predicates leave, other than those in ``scans``.
    private(set) var compositeScans: [FieldScan] = []
    /// What the predicates leave of the values of fields, whether or not these are indexed.
    private(set) var told: [FieldScan] = []
    /// The fields that the predicates concern, without the name.
    private(set) var fields: Set<FieldPath> = []
    /// The places that the predicates leave.
    private(set) var places: [PlaceScan] = []
    /// The names that the predicates leave.
    private(set) var names = Range<NameBound>.allNames
    /// The only documents there can be, in order; nil when the predicates don't say.
    private(set) var documents: [DocumentPath]?
    /// Whether a document that is in all of ``scans`` and ``names`` fulfils all predicates.
    private(set) var isExact = true

    init(_ predicates: [Predicate], of query: NormalizedQuery, _ queryNames: QueryNames, _ rules: IndexRules) {
        let source = query.source
        for predicate in predicates {
            if !predicate.field.isDocumentName { fields.insert(predicate.field) }
            switch predicate.test {
            case .near(let circle):
                take(PlaceScan(predicate.field, circle.boundingBox, circle: circle), rules)
            case .within(let box):
                take(PlaceScan(predicate.field, box), rules)
            case .range(let range) where predicate.field.isDocumentName:
                names = names.clamped(to: queryNames.range(range))
            case .equals(let values) where predicate.field.isDocumentName:
                let paths = values.sorted.compactMap { value -> DocumentPath? in
                    if case .reference(let path) = value, source.contains(path) { path } else { nil }
                }
                documents = documents.map { known in known.filter { paths.contains($0) } } ?? paths
                isExact = false
            default:
                guard let scan = FieldScan(predicate) else {
                    isExact = false
                    continue
                }
                told.append(scan)
                isExact = isExact && scan.isExact && !rules.isExempt(predicate.field)
                if !rules.isExempt(predicate.field) { scans.append(scan) }
            }
        }
        use(rules.composites, predicates, required: query.requiredFields)
    }

    private mutating func take(_ scan: PlaceScan, _ rules: IndexRules) {
        isExact = false
        if !rules.isExempt(scan.field) { places.append(scan) }
    }

    /// Puts a scan in the place of those of its fields' values.
    mutating func replaceScans(by scan: FieldScan) {
        scans.removeAll { old in
            if case .values(let field) = old.subject { scan.fields.contains(field) && old.isPoints } else { false }
        }
        scans.append(scan)
    }

    /// Takes a scan beside the others.
    mutating func add(_ scan: FieldScan) {
        compositeScans.append(scan)
    }

    /// The scans that give documents in the order of their names.
    var points: [FieldScan] { scans.filter(\.isPoints) }
}

/// The geo points among which all documents are that fulfil a filter by place.
struct PlaceScan: Sendable {
    let field: FieldPath
    let boxes: [IndexPlace]
    /// The circle that it is made of.
    let circle: GeoCircle?

    init(_ field: FieldPath, _ box: GeoBox, circle: GeoCircle? = nil) {
        self.field = field
        self.circle = circle
        boxes = box.rectangles.map { rectangle in
            IndexPlace(
                south: rectangle.latitudes.lowerBound,
                north: rectangle.latitudes.upperBound,
                west: rectangle.longitudes.lowerBound,
                east: rectangle.longitudes.upperBound
            )
        }
    }
}
