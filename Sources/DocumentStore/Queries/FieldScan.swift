internal import DocumentModel

/// The entries of a field among which all documents are that fulfil a predicate.
struct FieldScan: Sendable {
    /// The fields that the entries tell of.
    let fields: Set<FieldPath>
    let subject: IndexScan.Subject
    /// In order, without overlapping.
    let ranges: [ValueKeyRange]
    /// Whether each range is one value, so that its documents come in the order of their names.
    let isPoints: Bool
    /// Whether only documents that fulfil the predicate are there.
    let isExact: Bool
    /// The predicate, for people.
    let text: String

    /// The values, where each range is one.
    var points: [IndexScan.Point] { ranges.map { IndexScan.Point(subject: subject, value: $0.lower) } }

    /// Nil for a predicate that no entries tell of.
    init?(_ predicate: Predicate) {
        let field = predicate.field
        fields = [field]
        guard !field.isDocumentName else { return nil }
        switch predicate.test {
        case .equals(let values):
            subject = .values(of: field)
            (ranges, isExact) = Self.points(values)
            isPoints = true
            text = values.sorted.count == 1 ? "\(field) ==" : "\(field) in \(values.sorted.count) values"
        case .contains(let values):
            subject = .elements(of: field)
            (ranges, isExact) = Self.points(values)
            isPoints = true
            text = values.sorted.count == 1 ? "\(field) array-contains" : "\(field) array-contains-any of \(values.sorted.count)"
        case .range(let range):
            subject = .values(of: field)
            (ranges, isExact) = Self.range(range)
            isPoints = false
            text = "\(field) in a range"
        case .differs(let values):
            subject = .values(of: field)
            (ranges, isExact) = Self.gaps(values)
            isPoints = false
            text = values.sorted.count == 1 ? "\(field) !=" : "\(field) not-in \(values.sorted.count) values"
        case .near, .within:
            return nil
        }
    }

    /// The documents that have a field.
    init(existing field: FieldPath, in range: ValueKeyRange = .all) {
        fields = [field]
        subject = .values(of: field)
        ranges = [range]
        isPoints = false
        isExact = true
        text = "having \(field)"
    }

    /// The documents whose fields are equal to some values, in an index of several; perhaps in a range of the next field.
    init(
        _ composite: [IndexDefinition.Field],
        _ key: CompositeKey,
        _ part: ArraySlice<IndexDefinition.Field>,
        in range: ValueKeyRange? = nil
    ) {
        fields = Set(part.map(\.field))
        subject = .composite(composite)
        isPoints = range == nil && part.count == composite.count
        isExact = isPoints
        if let range {
            ranges = [range]
        } else {
            ranges = [isPoints ? ValueKeyRange(lower: key.bytes, upper: key.bytes + [0]) : key.all]
        }
        text = "the index of \(composite.text)"
    }

    /// Whether a document is at most once among the entries.
    var isDistinct: Bool {
        if case .elements = subject { ranges.count == 1 } else { true }
    }
}

extension FieldScan {
    private static func points(_ values: DistinctValues) -> ([ValueKeyRange], isExact: Bool) {
        var ranges: [ValueKeyRange] = []
        var isExact = true
        for value in values.sorted {
            let key = ValueKey(value)
            let range = ValueKeyRange.equal(to: key)
            // Values that are too long may have the same key.
            if ranges.last != range { ranges.append(range) }
            isExact = isExact && !key.isCut
        }
        return (ranges, isExact)
    }

    private static func range(_ range: ValueRange) -> ([ValueKeyRange], isExact: Bool) {
        var keys: ValueKeyRange?
        var isExact = true
        for (bound, isLower) in [(range.lower, true), (range.upper, false)] {
            // NaN stands for the beginning of the numbers.
            guard let bound, ValueBracket(of: bound.value) != .notANumber else { continue }
            let isCut = ValueKey(bound.value).isCut
            isExact = isExact && !isCut
            let isInclusive = bound.isInclusive || isCut
            let part =
                isLower
                ? ValueKeyRange.greater(than: bound.value, orEqual: isInclusive)
                : ValueKeyRange.less(than: bound.value, orEqual: isInclusive)
            keys = keys?.intersection(part) ?? part
        }
        return ([keys].compactMap { $0 }.filter { !$0.isEmpty }, isExact)
    }

    private static func gaps(_ values: DistinctValues) -> ([ValueKeyRange], isExact: Bool) {
        var ranges: [ValueKeyRange] = []
        var isExact = true
        var lower = ValueKeyRange.bracket(.null).upper
        for value in values.sorted where value != .null {
            let key = ValueKey(value)
            guard !key.isCut else {
                isExact = false
                continue
            }
            ranges.append(ValueKeyRange(lower: lower, upper: key.bytes))
            lower = key.firstBehind
        }
        ranges.append(ValueKeyRange(lower: lower, upper: ValueKeyRange.all.upper))
        return (ranges.filter { !$0.isEmpty }, isExact)
    }
}

extension [ValueKeyRange] {
    /// What both lists have in common; each in order and without overlapping.
    func intersection(_ other: [ValueKeyRange]) -> [ValueKeyRange] {
        flatMap { range in other.map { range.intersection($0) } }.filter { !$0.isEmpty }
    }

    /// The ranges in order, without overlapping.
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
}

extension [IndexDefinition.Field] {
    /// The fields, for people.
    var text: String {
        map { $0.direction == .ascending ? $0.field.description : "\($0.field) desc" }.joined(separator: ", ")
    }
}
