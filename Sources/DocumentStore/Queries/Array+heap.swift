/// An array of which the last element by an order stands first, and every other before its two children: so that of very many
/// elements the first are kept.
extension Array {
    /// Takes in an element.
    mutating func push(_ element: Element, by precedes: (Element, Element) -> Bool) {
        append(element)
        var index = count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard precedes(self[parent], self[index]) else { return }
            swapAt(parent, index)
            index = parent
        }
    }

    /// Puts an element in the place of the last by the order.
    mutating func replaceTop(with element: Element, by precedes: (Element, Element) -> Bool) {
        self[0] = element
        var index = 0
        while true {
            var last = index
            for child in [2 * index + 1, 2 * index + 2] where child < count && precedes(self[last], self[child]) {
                last = child
            }
            if last == index { return }
            swapAt(last, index)
            index = last
        }
    }
}
