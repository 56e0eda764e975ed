/// A commit's position in the total order of commits. The first is 1, and there are no gaps.
package struct SequenceNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number.
    package let rawValue: UInt64

    /// Creates a sequence number.
    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The position before the first commit.
    package static let zero = SequenceNumber(0)

    /// The previous commit's number. Not valid for ``zero``.
    package var previous: SequenceNumber { SequenceNumber(rawValue - 1) }

    /// The next commit's number.
    package var next: SequenceNumber { SequenceNumber(rawValue + 1) }

    /// Compares by commit order.
    package static func < (left: SequenceNumber, right: SequenceNumber) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The number in decimal.
    package var description: String { String(rawValue) }
}
