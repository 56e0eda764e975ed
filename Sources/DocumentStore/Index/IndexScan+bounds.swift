internal import DocumentModel

extension IndexScan {
    /// The bounds of a scan as the statements take them: the rows from `lower` to before `upper`.
    struct Bounds {
        var lower: Position
        var upper: Position
        /// Names that are to be left out between these.
        var names: Range<NameBound>?
    }

    /// The bounds, in names of the target.
    var bounds: Bounds {
        let names = allNames
        var bounds: Bounds
        let isOneValue = subject == .documents || values.upper == values.lower + [0]
        let lowerValue = subject == .documents ? [] : values.lower
        if isOneValue {
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

    /// The names that are wanted and below the document that the target is.
    private var allNames: Range<NameBound>? {
        guard let parent = target.parent else { return names }
        let below = NameKey(parent)
        let range = NameBound(below.bytes + [0])..<NameBound(below.firstBehindAll)
        return names.map { $0.clamped(to: range) } ?? range
    }
}

extension IndexScan.Position: Comparable {
    static func < (left: Self, right: Self) -> Bool {
        left.value == right.value
            ? left.name.lexicographicallyPrecedes(right.name) : left.value.lexicographicallyPrecedes(right.value)
    }
}

extension IndexStatement {
    /// Binds the bounds of a scan in a space.
    func bind(_ space: Int64, _ bounds: IndexScan.Bounds) {
        bind(space, at: 1)
        bind(bounds.lower.value, at: 2)
        bind(bounds.lower.name, at: 3)
        bind(bounds.upper.value, at: 4)
        bind(bounds.upper.name, at: 5)
        guard let names = bounds.names else { return }
        bind(names.lowerBound.bytes, at: 6)
        bind(names.upperBound.bytes, at: 7)
    }
}

extension IndexScan.Bounds {
    /// The bounds where all names begin with `prefix`, in names without it; nil when nothing is between them.
    func inside(_ prefix: [UInt8]) -> Self? {
        guard !prefix.isEmpty else { return self }
        var bounds = self
        bounds.lower = lower.inside(prefix)
        bounds.upper = upper.inside(prefix)
        if let names {
            let inner = IndexScan.Position.bound(names.lowerBound.bytes, inside: prefix)
            let outer = IndexScan.Position.bound(names.upperBound.bytes, inside: prefix)
            guard inner.lexicographicallyPrecedes(outer) else { return nil }
            bounds.names = NameBound(inner)..<NameBound(outer)
        }
        return bounds.lower < bounds.upper ? bounds : nil
    }
}

extension IndexScan.Position {
    fileprivate func inside(_ prefix: [UInt8]) -> Self {
        Self(value: value, name: Self.bound(name, inside: prefix))
    }

    /// The bound among names that begin with `prefix`, without it.
    fileprivate static func bound(_ bytes: [UInt8], inside prefix: [UInt8]) -> [UInt8] {
        if bytes.starts(with: prefix) { return Array(bytes.dropFirst(prefix.count)) }
        return bytes.lexicographicallyPrecedes(prefix) ? [] : [0xff]
    }
}
