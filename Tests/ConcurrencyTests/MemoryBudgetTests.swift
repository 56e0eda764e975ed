import Concurrency
import TestSupport
import Testing

@Suite("Memory budget", .timeLimit(.minutes(10)))
struct MemoryBudgetTests {
    private typealias Reservation = MemoryBudget.Reservation

    @Test
    func `Waiting reservations are granted in order as soon as enough memory is released for each`() async {
        let budget = MemoryBudget(limit: 100, smallReservationBytes: 32 << 10, timeout: .seconds(1), clock: FrozenClock())
        let reservation = Reservation(of: budget)
        #expect(await reservation.reserve(90))
        await withTaskGroup { group in
            for count in [60, 30, 40] {
                group.addTask {
                    let reservation = Reservation(of: budget)
                    #expect(await reservation.reserve(count))
                    return count
                }
            }
            while budget.waiterCount < 3 { await Task.yield() }
            #expect(await Reservation(of: budget).reserve(10))
            reservation.shrink(to: 65)
            #expect(await group.next() == 30)
            reservation.shrink(to: 0)
            #expect(await group.reduce(0, +) == 100)
        }
        #expect(budget.reservedBytes == 0)
    }

    @Test
    func `What must be sent is reserved beyond the limit, and others wait until it is released`() async {
        let budget = MemoryBudget(limit: 100, smallReservationBytes: 100, timeout: .seconds(1), clock: FrozenClock())
        let (other, response) = (Reservation(of: budget), Reservation(of: budget))
        #expect(await other.reserve(90))
        #expect(!response.resize(to: 20, usedBytes: 20))
        response.resizeRegardlessOfLimit(to: 20)
        #expect(budget.reservedBytes == 110)
        async let waiting = Reservation(of: budget).reserve(30)
        while budget.waiterCount < 1 { await Task.yield() }
        other.shrink(to: 60)
        #expect(budget.waiterCount == 1)
        response.resizeRegardlessOfLimit(to: 5)
        #expect(await waiting)
    }

    @Test
    func `A reservation fails on timeout and on cancellation`() async {
        let timingOut = MemoryBudget(limit: 100, smallReservationBytes: 32 << 10, timeout: .seconds(1), clock: InstantClock())
        let all = Reservation(of: timingOut)
        #expect(await all.reserve(100))
        #expect(await !Reservation(of: timingOut).reserve(1))

        let waitingForever = MemoryBudget(limit: 100, smallReservationBytes: 32 << 10, timeout: .seconds(1), clock: FrozenClock())
        let reservation = Reservation(of: waitingForever)
        #expect(await reservation.reserve(100))
        let waiting = Task { await Reservation(of: waitingForever).reserve(1) }
        while waitingForever.waiterCount < 1 { await Task.yield() }
        waiting.cancel()
        #expect(await !waiting.value)
        #expect(waitingForever.waiterCount == 0)
        reservation.shrink(to: 0)
        #expect(waitingForever.reservedBytes == 0)
    }

    @Test
    func `Large reservations may use at most three quarters of the budget`() async {
        let budget = MemoryBudget(limit: 400_000, smallReservationBytes: 32 << 10)
        let (first, second, small) = (Reservation(of: budget), Reservation(of: budget), Reservation(of: budget))
        #expect(first.resize(to: 300_000, usedBytes: 300_000))
        #expect(!second.resize(to: 40_000, usedBytes: 40_000))
        #expect(small.resize(to: 30_000, usedBytes: 30_000))
        first.shrink(to: 200_000)
        #expect(second.resize(to: 100_000, usedBytes: 100_000))
    }

    @Test
    func `A reservation that grows beyond the small size counts as large in full`() {
        let budget = MemoryBudget(limit: 400_000, smallReservationBytes: 64 << 10)
        let (large, small) = (Reservation(of: budget), Reservation(of: budget))
        #expect(large.grow(by: 300_000))
        #expect(!large.grow(by: 1))
        #expect(small.grow(by: 64 << 10))
        #expect(!small.grow(by: 1))
        large.shrink(to: 0)
        #expect(small.grow(by: 200_000))
        small.shrink(to: 0)
        #expect(large.grow(by: 300_000))
    }

    @Test
    func `A rejected change leaves the reservation unchanged`() {
        let budget = MemoryBudget(limit: 100, smallReservationBytes: 100)
        let (first, second) = (Reservation(of: budget), Reservation(of: budget))
        #expect(first.grow(by: 60))
        #expect(!second.grow(by: 50))
        #expect(!first.resize(to: 101, usedBytes: 0))
        #expect(budget.reservedBytes == 60)
        #expect(second.grow(by: 40))
        #expect(budget.reservedBytes == 100)
    }

    @Test
    func `Deallocating a reservation resumes those that are waiting`() async {
        let budget = MemoryBudget(limit: 100, smallReservationBytes: 100, timeout: .seconds(1), clock: FrozenClock())
        var holder: Reservation? = Reservation(of: budget)
        #expect(await holder?.reserve(100) == true)
        let waiting = Task { await Reservation(of: budget).reserve(100) }
        while budget.waiterCount < 1 { await Task.yield() }
        holder = nil
        #expect(await waiting.value)
        #expect(budget.reservedBytes == 0)
    }

    @Test
    func `A reservation of more than the budget is capped`() async {
        let budget = MemoryBudget(limit: 100, smallReservationBytes: 100)
        let reservation = Reservation(of: budget)
        #expect(await reservation.reserve(70))
        #expect(await reservation.reserve(70))
        #expect(budget.reservedBytes == 100)
    }

    @Test
    func `Memory granted while tasks are cancelled is never lost`() async {
        let budget = MemoryBudget(limit: 10, smallReservationBytes: 10, timeout: .seconds(60))
        var generator = SeededGenerator()
        await withTaskGroup { group in
            for _ in 0..<200 {
                let (count, yieldCount) = (Int.random(in: 1...10, using: &generator), Int.random(in: 0...5, using: &generator))
                let isCancelled = Bool.random(using: &generator)
                group.addTask {
                    let task = Task {
                        let reservation = Reservation(of: budget)
                        guard await reservation.reserve(count) else { return }
                        for _ in 0..<yieldCount { await Task.yield() }
                    }
                    for _ in 0..<yieldCount { await Task.yield() }
                    if isCancelled { task.cancel() }
                    await task.value
                }
            }
        }
        #expect(budget.reservedBytes == 0, "seed \(generator.seed)")
        #expect(budget.waiterCount == 0, "seed \(generator.seed)")
    }
}
