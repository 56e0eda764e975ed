extension Sequence where Self: Sendable, Element: Sendable {
    /// Calls `body` for each element with limited concurrency, and returns the results in no particular order.
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
