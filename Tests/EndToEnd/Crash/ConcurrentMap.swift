extension Sequence where Self: Sendable, Element: Sendable {
    /// Runs `body` for each element, `width` at a time, and gives all results in no order.
    func concurrentMap<Result: Sendable>(
        width: Int,
        _ body: @escaping @Sendable (Element) async throws -> Result
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: Result.self) { group in
            var results: [Result] = []
            var running = 0
            for element in self {
                if running == width, let result = try await group.next() {
                    results.append(result)
                    running -= 1
                }
                group.addTask { try await body(element) }
                running += 1
            }
            for try await result in group { results.append(result) }
            return results
        }
    }
}
