/// Calls `operation` for every item from `callers` concurrent tasks.
func forEachConcurrently<Item: Sendable>(
    _ items: [Item],
    _ callers: Int,
    _ operation: @escaping @Sendable (Item) async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for caller in 0..<callers {
            group.addTask {
                for index in stride(from: caller, to: items.count, by: callers) { try await operation(items[index]) }
            }
        }
        try await group.waitForAll()
    }
}
