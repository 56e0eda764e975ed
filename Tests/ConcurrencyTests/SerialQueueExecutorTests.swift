import Concurrency
import Testing

@Suite("Serial queue executors", .timeLimit(.minutes(10)))
struct SerialQueueExecutorTests {
    /// An actor on a queue, which lists what it was asked to do.
    private actor Log {
        private nonisolated let executor = SerialQueueExecutor(label: "log")
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        private(set) var entries: [Int] = []

        func append(_ entry: Int) { entries.append(entry) }

        nonisolated func submit(after delay: Duration = .zero, _ work: @escaping @Sendable (isolated Log) -> Void) {
            executor.submit(after: delay) { self.assumeIsolated(work) }
        }
    }

    @Test
    func `Submitted work is isolated to the actor, in the order of submission`() async {
        let log = Log()
        for entry in 0..<1000 { log.submit { $0.append(entry) } }
        #expect(await log.entries == Array(0..<1000))
    }

    @Test
    func `Calls from tasks and submitted work do not interleave`() async {
        let log = Log()
        await withTaskGroup { group in
            for entry in 0..<1000 {
                if entry.isMultiple(of: 2) { log.submit { $0.append(entry) } }
                group.addTask { if !entry.isMultiple(of: 2) { await log.append(entry) } }
            }
        }
        #expect(await log.entries.sorted() == Array(0..<1000))
    }

    @Test
    func `Delayed work is isolated to the actor`() async {
        let log = Log()
        let waiter = Waiter()
        log.submit(after: .milliseconds(1)) {
            $0.append(1)
            waiter.resume()
        }
        await waiter.wait()
        #expect(await log.entries == [1])
    }
}
