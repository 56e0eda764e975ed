/// The first of many things, as far as a page has room for them, and how many there are.
struct Beginning<Element: Sendable>: Sendable {
    /// The first of them.
    private(set) var elements: [Element] = []
    /// How many there are in all.
    private(set) var count = 0
    private let limit: Int

    /// Nothing yet.
    ///
    /// - Parameter limit: How many there is room for.
    init(limit: Int) {
        self.limit = limit
    }

    var isEmpty: Bool { count == 0 }

    /// What is said below a list of them; nil where that has all.
    var rest: String? { Counting.more(than: elements.count, of: count) }

    /// Takes one more, which is made only where there is room for it.
    mutating func append(_ element: @autoclosure () -> Element) {
        if elements.count < limit { elements.append(element()) }
        count += 1
    }
}
