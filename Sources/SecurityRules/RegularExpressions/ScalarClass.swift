/// A set of Unicode scalars in a regular expression.
struct ScalarClass: Sendable {
    /// Ranges of code points; sorted and disjoint after ``normalize()``.
    var ranges: [ClosedRange<UInt32>] = []
    /// A set of general categories, by their indices.
    private var categories: UInt32 = 0
    /// Sets with a negation or case folding of their own.
    private var parts: [ScalarClass] = []
    var isNegated = false
    /// True if scalars are in the set together with those that differ from them in case alone.
    var foldsCase = false

    init(_ ranges: [ClosedRange<UInt32>] = [], foldsCase: Bool = false) {
        self.ranges = ranges
        self.foldsCase = foldsCase
        normalize()
    }

    /// All scalars, or all but the line feed.
    static func any(includingLineFeed: Bool) -> ScalarClass {
        ScalarClass(includingLineFeed ? [0...maximum] : [0...0x09, 0x0b...maximum])
    }

    static let maximum: UInt32 = 0x10ffff

    mutating func insert(_ range: ClosedRange<UInt32>) {
        ranges.append(range)
    }

    /// True if the set has no general categories and no parts.
    var hasOnlyRanges: Bool { categories == 0 && parts.isEmpty }

    /// Adds the scalars of general categories.
    mutating func insert(categories mask: UInt32) {
        categories |= mask
    }

    /// Adds the scalars of another set.
    mutating func formUnion(_ other: ScalarClass) {
        parts.append(other)
    }

    /// Sorts the ranges, and merges those that touch.
    mutating func normalize() {
        ranges.sort { $0.lowerBound < $1.lowerBound }
        var merged: [ClosedRange<UInt32>] = []
        for range in ranges {
            if let last = merged.last, range.lowerBound <= last.upperBound &+ 1 {
                merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        ranges = merged
    }

    /// Returns whether a scalar is in the set.
    func contains(_ scalar: Unicode.Scalar) -> Bool {
        let isListed = foldsCase ? CaseFolding.orbit(of: scalar).contains(where: isListed) : isListed(scalar)
        return (isListed || parts.contains { $0.contains(scalar) }) != isNegated
    }

    private func isListed(_ scalar: Unicode.Scalar) -> Bool {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < scalar.value { low = middle + 1 } else { high = middle }
        }
        if low < ranges.count, ranges[low].lowerBound <= scalar.value { return true }
        return categories != 0 && categories & 1 << GeneralCategory.index(of: scalar.properties.generalCategory) != 0
    }
}

/// The general categories by their short names.
enum GeneralCategory {
    private static let names = [
        "Cc", "Cf", "Cs", "Co", "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Me", "Mc", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe",
        "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp",
    ]

    /// Returns the set of categories that a name of one or two letters stands for, or `nil` if there are none.
    static func mask(named name: String) -> UInt32? {
        guard (1...2).contains(name.utf8.count), name != "Cn" else { return nil }
        var mask: UInt32 = 0
        for (index, category) in names.enumerated() where category.hasPrefix(name) && category != "Cn" { mask |= 1 << index }
        return mask == 0 ? nil : mask
    }

    /// Returns the bit of a category in sets.
    static func index(of category: Unicode.GeneralCategory) -> Int {
        switch category {
        case .control: 0
        case .format: 1
        case .surrogate: 2
        case .privateUse: 3
        case .unassigned: 4
        case .uppercaseLetter: 5
        case .lowercaseLetter: 6
        case .titlecaseLetter: 7
        case .modifierLetter: 8
        case .otherLetter: 9
        case .nonspacingMark: 10
        case .enclosingMark: 11
        case .spacingMark: 12
        case .decimalNumber: 13
        case .letterNumber: 14
        case .otherNumber: 15
        case .connectorPunctuation: 16
        case .dashPunctuation: 17
        case .openPunctuation: 18
        case .closePunctuation: 19
        case .initialPunctuation: 20
        case .finalPunctuation: 21
        case .otherPunctuation: 22
        case .mathSymbol: 23
        case .currencySymbol: 24
        case .modifierSymbol: 25
        case .otherSymbol: 26
        case .spaceSeparator: 27
        case .lineSeparator: 28
        case .paragraphSeparator: 29
        @unknown default: 4
        }
    }
}
