import HearthService
import Logging
import StrictJSON
import Synchronization
import Testing

@testable import HearthServer

/// What is counted by the address of a client.
@Suite("Counting by address")
struct AttemptTests {
    @Test("An address may fail some times, and again after a while; others are not concerned")
    func attempts() {
        let start = ContinuousClock.now
        let passed = Mutex(Duration.zero)
        let failures = FailedAttempts(limit: 3) { start + passed.withLock { $0 } }
        for _ in 0..<3 {
            #expect(!failures.areTooMany(from: "a"))
            #expect(failures.note(from: "a") == nil)
        }
        #expect(failures.note(from: "a") == .seconds(3))
        #expect(failures.areTooMany(from: "a"))
        #expect(failures.note(from: "b") == nil)
        passed.withLock { $0 = .seconds(3) }
        #expect(failures.note(from: "a") == nil)
        #expect(failures.note(from: "a") == .seconds(3))
        passed.withLock { $0 = .seconds(60) }
        for _ in 0..<3 { #expect(failures.note(from: "a") == nil) }
    }

    @Test("However many addresses fail, as many are remembered as there is room for")
    func addresses() {
        let failures = FailedAttempts(limit: 1)
        for number in 0..<10_000 { #expect(failures.note(from: UTF8Key("\(number)")) == nil) }
    }

    @Test("One address has no more connections than it may; those without an address have all")
    func connections() {
        let slots = ConnectionSlots(limit: 5, limitPerAddress: 2, logger: Logger(label: "test"))
        #expect(slots.take(for: "a"))
        #expect(slots.take(for: "a"))
        #expect(!slots.take(for: "a"))
        #expect(slots.take(for: "b"))
        #expect(slots.take())
        #expect(slots.take())
        #expect(!slots.take())
        slots.giveBack(for: "a")
        #expect(slots.take(for: "a"))
    }
}
