import UTF8Text

/// The differences between the lines of two texts, compared by their bytes.
struct LineDiff: Sendable {
    /// A line of one of the texts, or of both.
    struct Line: Sendable {
        enum Kind: Sendable {
            case unchanged
            case removed
            case added
        }

        let kind: Kind
        let text: String
    }

    private(set) var lines: [Line] = []

    /// The maximum number of pairs of lines that are compared. Beyond it, all lines between the common ones at the beginning and
    /// at the end count as replaced.
    private static let maximumPairs = 2_000_000

    init(from old: String, to new: String) {
        let (old, new) = (Self.lines(of: old), Self.lines(of: new))
        let head = zip(old, new).prefix { $0 == $1 }.count
        let tail = zip(old.dropFirst(head).reversed(), new.dropFirst(head).reversed()).prefix { $0 == $1 }.count
        append(old[..<head], .unchanged)
        compare(old[head..<(old.count - tail)], new[head..<(new.count - tail)])
        append(old[(old.count - tail)...], .unchanged)
    }

    /// True if the texts are the same.
    var isEmpty: Bool { lines.allSatisfy { $0.kind == .unchanged } }

    private static func lines(of text: String) -> [UTF8Key] {
        var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines.map { UTF8Key(Substring($0)) }
    }

    private mutating func append(_ keys: ArraySlice<UTF8Key>, _ kind: Line.Kind) {
        lines += keys.map { Line(kind: kind, text: $0.string) }
    }

    /// Appends the differences between lines, with a longest common subsequence of them unchanged.
    private mutating func compare(_ old: ArraySlice<UTF8Key>, _ new: ArraySlice<UTF8Key>) {
        let (old, new) = (Array(old), Array(new))
        guard !old.isEmpty, !new.isEmpty, old.count <= Self.maximumPairs / new.count else {
            append(old[...], .removed)
            append(new[...], .added)
            return
        }
        // Numbers compare faster than lines.
        var numbers: [UTF8Key: Int] = [:]
        for line in old + new where numbers[line] == nil { numbers[line] = numbers.count }
        let (oldNumbers, newNumbers) = (old.map { numbers[$0] }, new.map { numbers[$0] })
        let width = new.count + 1
        // The length of the longest common subsequence of the lines from each pair on.
        var lengths = [Int32](repeating: 0, count: (old.count + 1) * width)
        for row in old.indices.reversed() {
            for column in new.indices.reversed() {
                lengths[row * width + column] =
                    oldNumbers[row] == newNumbers[column]
                    ? lengths[(row + 1) * width + column + 1] + 1
                    : max(lengths[(row + 1) * width + column], lengths[row * width + column + 1])
            }
        }
        var (row, column) = (0, 0)
        while row < old.count, column < new.count {
            if oldNumbers[row] == newNumbers[column] {
                append(old[row...row], .unchanged)
                (row, column) = (row + 1, column + 1)
            } else if lengths[(row + 1) * width + column] >= lengths[row * width + column + 1] {
                append(old[row...row], .removed)
                row += 1
            } else {
                append(new[column...column], .added)
                column += 1
            }
        }
        append(old[row...], .removed)
        append(new[column...], .added)
    }
}
