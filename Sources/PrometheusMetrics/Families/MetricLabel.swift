/// A label of a family, with all values that it can have. A value that is not among them is counted as ``other``: what clients send
/// must not make series.
package struct MetricLabel: Hashable, Sendable {
    /// The value for all that are not declared.
    package static let other = "other"

    package let name: String
    /// The declared values, and ``other`` as the last one.
    package let values: [String]

    package init(_ name: String, _ values: [String]) {
        self.name = name
        self.values = values.filter { $0 != Self.other } + [Self.other]
    }

    /// The index of ``other``.
    package var otherIndex: Int { values.count - 1 }

    /// Returns the index of a value; that of ``other`` if it is not declared. Compares with each: call it once, not for each event.
    package func index(of value: String) -> Int {
        values.firstIndex(of: value) ?? otherIndex
    }

    /// Returns an index within the bounds: that of ``other`` for one that is too large.
    func bounded(_ index: Int) -> Int { min(index, otherIndex) }
}
