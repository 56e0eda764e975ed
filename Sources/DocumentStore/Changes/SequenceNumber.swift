/// A commit's place in the order of all commits: 1 is the first, and no number is left out.
package struct SequenceNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number.
    package let rawValue: UInt64

    /// Makes a sequence number.
    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The place before the first commit.
    package static let zero = SequenceNumber(0)

    /// The place of the commit before, for any but ``zero``.
    package var previous: SequenceNumber { SequenceNumber(rawValue - 1) }

    /// The next commit's place.
    package var next: SequenceNumber { SequenceNumber(rawValue + 1) }

    /// Whether `left` was committed before `right`.
    package static func < (left: SequenceNumber, right: SequenceNumber) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The number in decimal.
    package var description: String { String(rawValue) }
}
