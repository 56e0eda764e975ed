internal import DocumentModel

/// What the index can tell of one of a filter's alternatives.
struct QueryAlternative: Sendable {
    /// The entries that the predicates leave, a list for each that has one.
    private(set) var scans: [FieldScan] = []
    /// The places that the predicates leave.
    private(set) var places: [PlaceScan] = []
    /// The names that the predicates leave.
    private(set) var names = Range<NameBound>.allNames
    /// The only documents there can be, in order; nil when the predicates don't say.
    private(set) var documents: [DocumentPath]?
    /// Whether a document that is in all of ``scans`` and ``names`` fulfils all predicates.
    private(set) var isExact = true

    init(_ predicates: [Predicate], in source: Query.Source, _ queryNames: QueryNames) {
        for predicate in predicates {
            switch predicate.test {
            case .near(let circle):
                places.append(PlaceScan(predicate.field, circle.boundingBox, circle: circle))
                isExact = false
            case .within(let box):
                places.append(PlaceScan(predicate.field, box))
                isExact = false
            case .range(let range) where predicate.field.isDocumentName:
                names = names.clamped(to: queryNames.range(range))
            case .equals(let values) where predicate.field.isDocumentName:
                let paths = values.sorted.compactMap { value -> DocumentPath? in
                    if case .reference(let path) = value, source.contains(path) { path } else { nil }
                }
                documents = documents.map { known in known.filter { paths.contains($0) } } ?? paths
                isExact = false
            default:
                if let scan = FieldScan(predicate) { scans.append(scan) }
                isExact = isExact && scans.last?.isExact == true && scans.last?.field == predicate.field
            }
        }
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
