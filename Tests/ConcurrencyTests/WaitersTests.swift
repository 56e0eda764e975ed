import Synchronization
import Testing

@testable import Concurrency

@Suite("Waiters", .timeLimit(.minutes(10)))
struct WaitersTests {
    @Test
    func `An event before the wait ends it immediately`() async {
        let waiter = Waiter()
        waiter.resume()
        waiter.resume()
        #expect(await waiter.wait())
    }

    @Test
    func `An event during the wait ends it`() async {
        let waiter = Waiter()
        async let result = waiter.wait()
        await Task.yield()
        waiter.resume()
        #expect(await result)
    }

    @Test
    func `A cancellation before the wait ends it immediately`() async {
        let waiter = Waiter()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await waiter.wait()
        }
        task.cancel()
        #expect(await !task.value)
        waiter.resume()
    }

    @Test
    func `A cancellation during the wait ends it`() async {
        let waiter = Waiter()
        let task = Task { await waiter.wait() }
        await Task.yield()
        task.cancel()
        #expect(await !task.value)
        #expect(!waiter.claim())
    }

    @Test
    func `A cancellation after the event has no effect`() async {
        let waiter = Waiter()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await waiter.wait()
        }
        waiter.resume()
        task.cancel()
        #expect(await task.value)
    }

    @Test
    func `A removed waiter cannot be cancelled before it is resumed`() async {
        var waiters = Waiters()
        let waiter = waiters.add()
        let task = Task { await waiter.wait() }
        await Task.yield()
        let removed = waiters.removeFirst()
        task.cancel()
        removed?.resume()
        #expect(await task.value)
    }

    @Test
    func `Waiters are removed in their order, without the cancelled ones`() async {
        var waiters = Waiters()
        let all = (0..<5).map { _ in waiters.add() }
        for index in [0, 3] { await cancel(all[index]) }
        #expect(!waiters.isEmpty)
        #expect(waiters.removeFirst() === all[1])
        #expect(waiters.removeFirst() === all[2])
        #expect(waiters.removeFirst() === all[4])
        #expect(waiters.isEmpty)
        #expect(waiters.removeFirst() == nil)
    }

    @Test
    func `All waiters are removed in their order`() async {
        var waiters = Waiters()
        let all = (0..<5).map { _ in waiters.add() }
        let removed = waiters.removeAll()
        #expect(removed.map(ObjectIdentifier.init) == all.map(ObjectIdentifier.init))
        #expect(waiters.isEmpty)
        #expect(waiters.removeAll().isEmpty)
    }

    @Test
    func `Cancelled waiters do not accumulate`() async {
        var waiters = Waiters()
        let first = waiters.add()
        for _ in 0..<100 { await cancel(waiters.add()) }
        #expect(waiters.removeAll().count <= 16)
        first.resume()
    }

    @Test
    func `Each slot is granted to exactly one waiter, whichever are cancelled in the meantime`() async {
        let count = 2000
        let slots = Slots()
        let grantedCount = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<count {
                group.addTask {
                    await withTaskGroup(of: Bool.self) { inner in
                        inner.addTask { await slots.acquire() }
                        if index.isMultiple(of: 3) { inner.cancelAll() }
                        return await inner.next() ?? false
                    }
                }
                group.addTask {
                    slots.release()
                    return false
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(grantedCount + slots.freeCount == count)
        #expect(grantedCount >= count * 2 / 3)
    }

    private func cancel(_ waiter: Waiter) async {
        let task = Task { await waiter.wait() }
        task.cancel()
        _ = await task.value
    }

    /// A counter of free slots, which grants released slots to waiters.
    private final class Slots: Sendable {
        private let state = Mutex((free: 0, waiters: Waiters()))

        var freeCount: Int { state.withLock { $0.free } }

        func acquire() async -> Bool {
            let waiter = state.withLock { state -> Waiter? in
                guard state.free == 0 else {
                    state.free -= 1
                    return nil
                }
                return state.waiters.add()
            }
            return await waiter?.wait() ?? true
        }

        func release() {
            let next = state.withLock { state in
                let next = state.waiters.removeFirst()
                if next == nil { state.free += 1 }
                return next
            }
            next?.resume()
        }
    }
}
