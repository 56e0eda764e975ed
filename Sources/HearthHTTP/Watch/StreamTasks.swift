/// The tasks of streams that outlast their requests. They are children of the server's task: it cancels them when it ends, and waits
/// for them.
package struct StreamTasks: Sendable {
    /// The work of a task.
    package typealias Body = @Sendable () async -> Void

    private let bodies: AsyncStream<Body>
    private let continuation: AsyncStream<Body>.Continuation

    init() {
        (bodies, continuation) = AsyncStream.makeStream()
    }

    /// Starts a task, once ``run()`` has been called.
    func start(_ body: @escaping Body) {
        continuation.yield(body)
    }

    /// Runs the tasks until the current one is cancelled. Call it once.
    func run() async {
        await withDiscardingTaskGroup { group in
            for await body in bodies { group.addTask { await body() } }
            group.cancelAll()
        }
    }
}
