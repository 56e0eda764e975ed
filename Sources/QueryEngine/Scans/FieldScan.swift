internal import DocumentModel
internal import DocumentStore

/// A scan of index entries that include all documents that match a predicate.
struct FieldScan: Sendable {
    /// The fields whose predicates the scan covers.
    let fields: Set<FieldPath>
    let index: IndexScan.Index
    /// The ranges of keys, sorted and disjoint.
    let ranges: [ValueKeyRange]
    /// True if each range is one value, so that its documents are in name order.
    let isPointLookup: Bool
    /// True if every document in the ranges matches the predicate.
    let isExact: Bool
    /// The predicate in plan lines.
    let text: String

    /// The ranges of a point lookup.
    var pointLookups: [IndexScan.PointLookup] { ranges.map { IndexScan.PointLookup(index: index, value: $0.lower) } }

    /// Creates the scan for a predicate; `nil` if the field index cannot evaluate it.
    init?(_ predicate: Predicate) {
        let field = predicate.field
        fields = [field]
        guard !field.isDocumentName else { return nil }
        switch predicate.test {
        case .equals(let values):
            index = .values(of: field)
            (ranges, isExact) = Self.points(values)
            isPointLookup = true
            text = values.sorted.count == 1 ? "\(field) ==" : "\(field) in (\(values.sorted.count) values)"
        case .contains(let values):
            index = .elements(of: field)
            (ranges, isExact) = Self.points(values)
            isPointLookup = true
            text =
                values.sorted.count == 1
                ? "\(field) array-contains" : "\(field) array-contains-any (\(values.sorted.count) values)"
        case .range(let range):
            index = .values(of: field)
            (ranges, isExact) = Self.range(range)
            isPointLookup = false
            text = "\(field) in a range"
        case .differs(let values):
            index = .values(of: field)
            (ranges, isExact) = Self.gaps(values)
            isPointLookup = false
            text = values.sorted.count == 1 ? "\(field) !=" : "\(field) not-in (\(values.sorted.count) values)"
        case .near, .within:
            return nil
        }
    }

    /// Creates the scan for the documents that have a field.
    init(existing field: FieldPath, in range: ValueKeyRange = .all) {
        fields = [field]
        index = .values(of: field)
        ranges = [range]
        isPointLookup = false
        isExact = true
        text = "\(field) exists"
    }

    /// Creates the scan of a composite index for equality predicates on its leading fields.
    ///
    /// - Parameters:
    ///   - key: The key of the values.
    ///   - covered: The leading fields that the scan covers.
    ///   - range: The keys for a range of the next field's values, instead of all keys with the prefix.
    init(
        _ composite: [IndexDefinition.Field],
        _ key: CompositeKey,
        covering covered: ArraySlice<IndexDefinition.Field>,
        in range: ValueKeyRange? = nil
    ) {
        fields = Set(covered.map(\.field))
        index = .composite(composite)
        isPointLookup = range == nil && covered.count == composite.count
        isExact = isPointLookup
        if let range {
            ranges = [range]
        } else {
            ranges = [isPointLookup ? ValueKeyRange(lower: key.bytes, upper: key.bytes + [0]) : key.prefixRange]
        }
        text = "composite (\(composite.text))"
    }

    /// Returns the intersection with another exact scan of the same field's values.
    fileprivate func intersection(_ other: FieldScan) -> FieldScan {
        FieldScan(
            fields: fields,
            index: index,
            ranges: ranges.intersection(other.ranges),
            isPointLookup: isPointLookup || other.isPointLookup,
            isExact: true,
            text: "\(text), \(other.text)"
        )
    }

    private init(
        fields: Set<FieldPath>,
        index: IndexScan.Index,
        ranges: [ValueKeyRange],
        isPointLookup: Bool,
        isExact: Bool,
        text: String
    ) {
        self.fields = fields
        self.index = index
        self.ranges = ranges
        self.isPointLookup = isPointLookup
        self.isExact = isExact
        self.text = text
    }

    /// True if a document has at most one entry in the ranges.
    var isDistinct: Bool {
        if case .elements = index { ranges.count == 1 } else { true }
    }
}

extension [FieldScan] {
    /// The scans with those of each field's values replaced by their intersection, so that a field has at most one. The scans
    /// must be exact.
    var combiningValues: [FieldScan] {
        var combined: [FieldScan] = []
        for scan in self {
            if case .values = scan.index, let known = combined.firstIndex(where: { $0.index == scan.index }) {
                combined[known] = combined[known].intersection(scan)
            } else {
                combined.append(scan)
            }
        }
        return combined
    }

    /// The scans in a plan line.
    var planText: String { map(\.text).joined(separator: ", ") }

    /// The suffix of a plan line for scans that are evaluated by probes.
    var probeText: String { isEmpty ? "" : "; probe for each document: \(planText)" }
}

extension FieldScan {
    private static func points(_ values: ValueSet) -> ([ValueKeyRange], isExact: Bool) {
        var ranges: [ValueKeyRange] = []
        var isExact = true
        for value in values.sorted {
            let key = ValueKey(value)
            let range = ValueKeyRange.equal(to: key)
            // Different long values may have the same truncated key.
            if ranges.last != range { ranges.append(range) }
            isExact = isExact && !key.isTruncated
        }
        return (ranges, isExact)
    }

    private static func range(_ range: ValueRange) -> ([ValueKeyRange], isExact: Bool) {
        var keys: ValueKeyRange?
        var isExact = true
        for (bound, isLower) in [(range.lower, true), (range.upper, false)] {
            // NaN is the lower bound of all numbers.
            guard let bound, TypeBracket(of: bound.value) != .notANumber else { continue }
            let isTruncated = ValueKey(bound.value).isTruncated
            isExact = isExact && !isTruncated
            let isInclusive = bound.isInclusive || isTruncated
            let part =
                isLower
                ? ValueKeyRange.greater(than: bound.value, orEqual: isInclusive)
                : ValueKeyRange.less(than: bound.value, orEqual: isInclusive)
            keys = keys?.intersection(part) ?? part
        }
        return ([keys].compactMap { $0 }.filter { !$0.isEmpty }, isExact)
    }

    private static func gaps(_ values: ValueSet) -> ([ValueKeyRange], isExact: Bool) {
        var ranges: [ValueKeyRange] = []
        var isExact = true
        var lower = ValueKeyRange.bracket(.null).upper
        for value in values.sorted where value != .null {
            let key = ValueKey(value)
            guard !key.isTruncated else {
                isExact = false
                continue
            }
            ranges.append(ValueKeyRange(lower: lower, upper: key.bytes))
            lower = key.successor
        }
        ranges.append(ValueKeyRange(lower: lower, upper: ValueKeyRange.all.upper))
        return (ranges.filter { !$0.isEmpty }, isExact)
    }
}

/// A scan of the geo index for a predicate on a geo point.
struct GeoScan: Sendable {
    let field: FieldPath
    let boxes: [GeoIndexBox]
    /// The circle whose bounding box is scanned; `nil` for a box.
    let circle: GeoCircle?

    init(_ field: FieldPath, _ box: GeoBox, circle: GeoCircle? = nil) {
        self.field = field
        self.circle = circle
        boxes = box.rectangles.map { rectangle in
            GeoIndexBox(
                south: rectangle.latitudes.lowerBound,
                north: rectangle.latitudes.upperBound,
                west: rectangle.longitudes.lowerBound,
                east: rectangle.longitudes.upperBound
            )
        }
    }
}

extension [ValueKeyRange] {
    /// Returns the intersection of two lists of sorted, disjoint ranges.
    func intersection(_ other: [ValueKeyRange]) -> [ValueKeyRange] {
        flatMap { range in other.map { range.intersection($0) } }.filter { !$0.isEmpty }
    }

    /// Returns the union of the ranges as sorted, disjoint ranges.
    func merged() -> [ValueKeyRange] {
        var merged: [ValueKeyRange] = []
        for range in sorted(by: { $0.lower.lexicographicallyPrecedes($1.lower) }) {
            if let last = merged.last, !last.upper.lexicographicallyPrecedes(range.lower) {
                if last.upper.lexicographicallyPrecedes(range.upper) { merged[merged.count - 1].upper = range.upper }
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    /// The smallest range that contains all ranges; empty when there are none.
    var hull: ValueKeyRange {
        guard let first, let last else { return ValueKeyRange(lower: [], upper: []) }
        return ValueKeyRange(lower: first.lower, upper: last.upper)
    }
}

extension [IndexDefinition.Field] {
    /// The fields in a plan line.
    var text: String {
        map { $0.direction == .ascending ? $0.field.description : "\($0.field) desc" }.joined(separator: ", ")
    }
}
