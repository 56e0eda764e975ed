extension RangeReplaceableCollection {
    /// Removes the elements that satisfy a predicate, and returns them. The predicate is called once for each, since time may change it.
    package mutating func removeAndReturn(where isRemoved: (Element) -> Bool) -> [Element] {
        var removed: [Element] = []
        self = filter { element in
            guard isRemoved(element) else { return true }
            removed.append(element)
            return false
        }
        return removed
    }
}
