import Synchronization
import Testing

@testable import HearthClient

@Suite("Queue of writes")
struct WriteQueueTests {
    @Test func `What waits for writes comes after them, in order`() async {
        let queue = WriteQueue()
        let (gate, opening) = AsyncStream.makeStream(of: Never.self)
        queue.enqueue { for await _ in gate {} }
        let numbers = Mutex<[Int]>([])
        for number in 0..<100 { queue.afterPending { numbers.withLock { $0.append(number) } } }
        let early = numbers.withLock { $0 }
        opening.finish()
        await queue.waitForPending()
        let all = numbers.withLock { $0 }
        #expect(early.isEmpty && all == Array(0..<100))
    }
}
