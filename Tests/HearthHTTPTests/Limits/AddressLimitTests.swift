import HearthAPI
import Logging
import Synchronization
import Testing
import UTF8Text

@testable import HearthHTTP

@Suite("Limits per address")
struct AddressLimitTests {
    @Test
    func `Failed attempts are limited per address and replenished over time`() {
        let start = ContinuousClock.now
        let passed = Mutex(Duration.zero)
        let failures = FailedAttemptLimiter(limit: 3) { start + passed.withLock { $0 } }
        for _ in 0..<3 {
            #expect(!failures.isLimited(from: "a"))
            #expect(failures.recordFailure(from: "a") == nil)
        }
        #expect(failures.recordFailure(from: "a") == .seconds(3))
        #expect(failures.isLimited(from: "a"))
        #expect(failures.recordFailure(from: "b") == nil)
        passed.withLock { $0 = .seconds(3) }
        #expect(failures.recordFailure(from: "a") == nil)
        #expect(failures.recordFailure(from: "a") == .seconds(3))
        passed.withLock { $0 = .seconds(60) }
        for _ in 0..<3 { #expect(failures.recordFailure(from: "a") == nil) }
    }

    @Test
    func `The number of tracked addresses is bounded`() {
        let failures = FailedAttemptLimiter(limit: 1)
        for number in 0..<10_000 { #expect(failures.recordFailure(from: UTF8Key("\(number)")) == nil) }
    }

    @Test
    func `Connections are limited per address; those without an address only in total`() {
        let slots = ConnectionSlots(limit: 5, limitPerAddress: 2, logger: Logger(label: "test"))
        #expect(slots.acquire(for: "a"))
        #expect(slots.acquire(for: "a"))
        #expect(!slots.acquire(for: "a"))
        #expect(slots.acquire(for: "b"))
        #expect(slots.acquire())
        #expect(slots.acquire())
        #expect(!slots.acquire())
        slots.release(for: "a")
        #expect(slots.acquire(for: "a"))
    }
}
