extension Array where Element: Sendable {
    /// Returns the transformed elements in the original order. Transforms up to `width` elements concurrently.
    package func concurrentMap<Result: Sendable>(
        width: Int,
        _ transform: @escaping @Sendable (Element) async -> Result
    ) async -> [Result] {
        await withTaskGroup(of: (index: Int, result: Result).self) { group in
            var results = [Result?](repeating: nil, count: count)
            for index in indices {
                if index >= width, let done = await group.next() { results[done.index] = done.result }
                let element = self[index]
                group.addTask { (index, await transform(element)) }
            }
            for await done in group { results[done.index] = done.result }
            return results.compactMap(\.self)
        }
    }
}
