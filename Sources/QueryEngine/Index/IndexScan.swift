package import DocumentModel
package import DocumentStore

/// The set of documents that a scan covers.
package enum IndexTarget: Hashable, Sendable {
    /// The documents of one collection. Their names are the keys of their IDs.
    case collection(CollectionPath)
    /// The documents of a collection group, anywhere or below a document. Their names are the keys of their paths.
    case group(CollectionID, below: DocumentPath?)
    /// All documents, anywhere or below a document. Their names are the keys of their paths. Their fields are not indexed.
    case all(below: DocumentPath?)

    /// The common ancestor of the documents; `nil` without such a restriction.
    package var parent: DocumentPath? {
        switch self {
        case .collection: nil
        case .group(_, let parent), .all(let parent): parent
        }
    }
}

/// A range scan of an index.
package struct IndexScan: Sendable {
    /// The index that is scanned.
    package enum Index: Hashable, Sendable {
        /// The documents, ordered by name; rows have no values.
        case documents
        /// The documents that have a field, ordered by its value, then by name.
        case values(of: FieldPath)
        /// The documents that have an array in a field, one row per distinct element, ordered by the element, then by name.
        case elements(of: FieldPath)
        /// The documents that have all fields of a composite index, ordered by ``CompositeKey``, then by name.
        case composite([IndexDefinition.Field])
    }

    /// A lookup of the entries with one value.
    package struct PointLookup: Hashable, Sendable {
        /// The index.
        package let index: Index
        /// The value's key.
        package let value: [UInt8]

        /// Creates a lookup.
        package init(index: Index, value: [UInt8]) {
            self.index = index
            self.value = value
        }
    }

    /// The position of a row.
    package struct Position: Hashable, Sendable {
        /// The value's key; empty in ``Index/documents``.
        package var value: [UInt8]
        /// The name's key.
        package var name: [UInt8]

        /// Creates a position.
        package init(value: [UInt8], name: [UInt8]) {
            self.value = value
            self.name = name
        }
    }

    /// The documents.
    package let target: IndexTarget
    /// The index.
    package let index: Index
    /// The range of values; ignored for ``Index/documents``.
    package var values: ValueKeyRange
    /// The range of names; `nil` for all.
    package var names: Range<NameBound>?
    /// True if rows are in descending order, of values and of names.
    package var isDescending: Bool
    /// The position after which the scan starts, in its direction.
    package var after: Position?

    /// Creates a scan.
    package init(
        target: IndexTarget,
        index: Index,
        values: ValueKeyRange = .all,
        names: Range<NameBound>? = nil,
        isDescending: Bool = false,
        after: Position? = nil
    ) {
        self.target = target
        self.index = index
        self.values = values
        self.names = names
        self.isDescending = isDescending
        self.after = after
    }
}

/// A bound of a range of names.
package struct NameBound: Hashable, Comparable, Sendable {
    /// The encoded bytes.
    package let bytes: [UInt8]

    /// Creates a bound.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package static func < (left: NameBound, right: NameBound) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension Range<NameBound> {
    /// The range of all names.
    package static let allNames = NameBound([])..<NameBound([0xff])

    /// Creates the range between two bounds; it is empty when they are in the wrong order.
    package init(from lower: [UInt8], to upper: [UInt8]) {
        let lower = NameBound(lower)
        self = lower..<Swift.max(lower, NameBound(upper))
    }
}

extension IndexScan.Position: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        left.value == right.value
            ? left.name.lexicographicallyPrecedes(right.name) : left.value.lexicographicallyPrecedes(right.value)
    }
}

extension IndexScan {
    /// The bounds of a scan as parameters of a statement: from `lower` up to, not including, `upper`.
    package struct Bounds {
        /// The inclusive lower bound.
        package var lower: Position
        /// The exclusive upper bound.
        package var upper: Position
        /// An additional filter on names between the bounds.
        package var names: Range<NameBound>?
    }

    /// The bounds, in names of the target.
    package var bounds: Bounds {
        let names = restrictedNames
        var bounds: Bounds
        let isSingleValue = index == .documents || values.upper == values.lower + [0]
        let lowerValue = index == .documents ? [] : values.lower
        if isSingleValue {
            let upper = names?.upperBound.bytes ?? [0xff]
            bounds = Bounds(
                lower: Position(value: lowerValue, name: names?.lowerBound.bytes ?? []),
                upper: Position(value: lowerValue, name: upper)
            )
        } else {
            bounds = Bounds(
                lower: Position(value: lowerValue, name: []),
                upper: Position(value: values.upper, name: []),
                names: names
            )
        }
        if let after {
            if isDescending {
                bounds.upper = min(bounds.upper, after)
            } else {
                bounds.lower = max(bounds.lower, Position(value: after.value, name: after.name + [0]))
            }
        }
        return bounds
    }

    /// The range of names, restricted to those below the target's ancestor.
    private var restrictedNames: Range<NameBound>? {
        guard let parent = target.parent else { return names }
        let ancestor = NameKey(parent)
        let range = NameBound(ancestor.bytes + [0])..<NameBound(ancestor.prefixUpperBound)
        return names.map { $0.clamped(to: range) } ?? range
    }
}

extension IndexScan.Bounds {
    /// Returns the bounds in a scope whose names omit `prefix`, or `nil` if they are empty there.
    package func removingPrefix(_ prefix: [UInt8]) -> Self? {
        guard !prefix.isEmpty else { return self }
        var bounds = self
        bounds.lower = lower.removingPrefix(prefix)
        bounds.upper = upper.removingPrefix(prefix)
        if let names {
            let lower = IndexScan.Position.bound(names.lowerBound.bytes, removingPrefix: prefix)
            let upper = IndexScan.Position.bound(names.upperBound.bytes, removingPrefix: prefix)
            guard lower.lexicographicallyPrecedes(upper) else { return nil }
            bounds.names = NameBound(lower)..<NameBound(upper)
        }
        return bounds.lower < bounds.upper ? bounds : nil
    }
}

extension IndexScan.Position {
    fileprivate func removingPrefix(_ prefix: [UInt8]) -> Self {
        Self(value: value, name: Self.bound(name, removingPrefix: prefix))
    }

    fileprivate static func bound(_ bytes: [UInt8], removingPrefix prefix: [UInt8]) -> [UInt8] {
        if bytes.starts(with: prefix) { return Array(bytes.dropFirst(prefix.count)) }
        return bytes.lexicographicallyPrecedes(prefix) ? [] : [0xff]
    }
}
