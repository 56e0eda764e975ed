/// A list that keeps its first elements up to a limit, and counts all.
struct TruncatedList<Element: Sendable>: Sendable {
    /// The elements up to the limit.
    private(set) var elements: [Element] = []
    /// The number of all appended elements.
    private(set) var count = 0
    private let limit: Int

    /// Creates an empty list.
    ///
    /// - Parameter limit: The maximum number of elements to keep.
    init(limit: Int) {
        self.limit = limit
    }

    /// Creates a list of the first elements of a number of them.
    init(_ elements: [Element], ofAll count: Int) {
        self.elements = elements
        self.count = max(count, elements.count)
        limit = elements.count
    }

    var isEmpty: Bool { count == 0 }

    /// The text below the list that counts the omitted elements; `nil` if there are none.
    var omissionNote: String? { Self.omissionNote(shown: elements.count, of: count) }

    /// Returns the text below a list that counts the omitted elements; `nil` if all are shown.
    static func omissionNote(shown: Int, of count: Int) -> String? {
        count > shown ? localized(count: count - shown, one: "And {count} more.", other: "And {count} more.") : nil
    }

    /// Appends an element, which is evaluated only below the limit.
    mutating func append(_ element: @autoclosure () -> Element) {
        if elements.count < limit { elements.append(element()) }
        count += 1
    }
}
