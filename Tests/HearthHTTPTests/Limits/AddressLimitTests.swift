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
    func `Connections are limited per address; those without an address only in total`() throws {
        let slots = ConnectionSlots(limit: 5, limitPerAddress: 2, logger: Logger(label: "test"))
        let first = try acquireBusy(slots, "a")
        _ = try acquireBusy(slots, "a")
        #expect(throws: ConnectionSlots.LimitReached.address("a", 2)) { try slots.acquire(for: "a") {} }
        _ = try acquireBusy(slots, "b")
        _ = try acquireBusy(slots, nil)
        _ = try acquireBusy(slots, nil)
        #expect(throws: ConnectionSlots.LimitReached.total(5)) { try slots.acquire {} }
        #expect(throws: ConnectionSlots.LimitReached.total(5)) { try slots.acquire(for: "b") {} }
        #expect(throws: ConnectionSlots.LimitReached.address("a", 2)) { try slots.acquire(for: "a") {} }
        first.release()
        first.release()
        _ = try acquireBusy(slots, "a")
        #expect(throws: ConnectionSlots.LimitReached.total(5)) { try slots.acquire {} }
    }

    private func acquireBusy(_ slots: ConnectionSlots, _ address: UTF8Key?) throws -> ConnectionSlots.Slot {
        let slot = try slots.acquire(for: address) { Issue.record("A connection with a request was closed") }
        #expect(slot.beginRequests())
        return slot
    }

    @Test
    func `The connection that has been idle longest makes room, of the address whose limit is reached`() throws {
        let closed = Mutex<[String]>([])
        let slots = ConnectionSlots(limit: 4, limitPerAddress: 2, logger: Logger(label: "test"))
        func acquire(_ name: String, _ address: UTF8Key?) throws -> ConnectionSlots.Slot {
            try slots.acquire(for: address) { closed.withLock { $0.append(name) } }
        }
        func expectClosed(_ names: String..., sourceLocation: SourceLocation = #_sourceLocation) {
            let found = closed.withLock { closed in
                defer { closed = [] }
                return closed
            }
            #expect(found == names, sourceLocation: sourceLocation)
        }
        let local = try acquire("local", nil)
        let a1 = try acquire("a1", "a")
        let a2 = try acquire("a2", "a")
        // a1 becomes idle after a2.
        #expect(a1.beginRequests())
        a1.endRequests()
        let a3 = try acquire("a3", "a")
        expectClosed("a2")
        #expect(!a2.beginRequests())
        a2.endRequests()
        a2.release()
        #expect(a1.beginRequests() && a3.beginRequests())
        #expect(throws: ConnectionSlots.LimitReached.address("a", 2)) { try acquire("a4", "a") }
        let b = try acquire("b", "b")
        expectClosed()
        // The total limit is reached.
        _ = try acquire("c", "c")
        expectClosed("local")
        #expect(!local.beginRequests())
        #expect(b.beginRequests())
        _ = try acquire("d", nil)
        expectClosed("c")
        _ = try acquire("e", "e")
        expectClosed("d")
    }

    @Test
    func `The log names the limit that was reached`() throws {
        let log = RecentLog()
        let slots = ConnectionSlots(limit: 3, limitPerAddress: 1, logger: Logger(label: "test") { _ in log.handler })
        for _ in 0..<3 { _ = try slots.acquire(for: "192.0.2.1") {} }
        _ = try acquireBusy(slots, "192.0.2.2")
        for _ in 0..<3 { #expect(throws: ConnectionSlots.LimitReached.self) { try slots.acquire(for: "192.0.2.2") {} } }
        for _ in 0..<2 { _ = try acquireBusy(slots, nil) }
        #expect(throws: ConnectionSlots.LimitReached.total(3)) { try slots.acquire {} }
        let lines = log.entries.map { line in "\(line.message) \(line.details.map(\.value).joined(separator: " "))" }
        let closing = "closing the connections that have been idle longest"
        #expect(
            lines == [
                "Connection limit of a client address reached, \(closing) 192.0.2.1 1",
                "Connection limit of a client address reached, rejecting connections 192.0.2.2 1",
                "Connection limit reached, \(closing) 3", "Connection limit reached, rejecting connections 3",
            ]
        )
    }
}
