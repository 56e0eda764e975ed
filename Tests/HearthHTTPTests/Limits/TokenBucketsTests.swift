import Synchronization
import Testing
import UTF8Text

@testable import HearthHTTP

@Suite("Token buckets")
struct TokenBucketsTests {
    /// A clock that tests set, in milliseconds.
    private final class SettableClock: Sendable {
        private let milliseconds = Mutex<Int64>(0)

        func advance(by milliseconds: Int64) {
            self.milliseconds.withLock { $0 += milliseconds }
        }

        var nanoseconds: Int64 { milliseconds.withLock { $0 * 1_000_000 } }
    }

    private let clock = SettableClock()

    private func buckets(_ callsPerSecond: Int, burst: Int, maximumCount: Int = 1 << 16) -> TokenBuckets {
        TokenBuckets(.init(callsPerSecond: callsPerSecond, burst: burst), maximumCount: maximumCount) { [clock] in
            clock.nanoseconds
        }
    }

    /// Consumes calls until one is refused, and returns their number.
    private func consumeAll(_ buckets: TokenBuckets, _ client: UTF8Key) -> Int {
        var count = 0
        while buckets.consume(for: client) == nil { count += 1 }
        return count
    }

    @Test
    func `A client has the calls of a burst, and then those of the rate`() {
        let buckets = buckets(10, burst: 5)
        #expect(consumeAll(buckets, "a") == 5)
        #expect(buckets.consume(for: "a") == .milliseconds(100))
        #expect(buckets.consume(for: "b") == nil)
        clock.advance(by: 60)
        #expect(buckets.consume(for: "a") == .milliseconds(40))
        clock.advance(by: 40)
        #expect(consumeAll(buckets, "a") == 1)
        clock.advance(by: 250)
        #expect(consumeAll(buckets, "a") == 2)
        clock.advance(by: 3_600_000)
        #expect(consumeAll(buckets, "a") == 5)
        #expect(buckets.refusedCount == 6)
    }

    @Test
    func `A batch may take more than the bucket has, which is then refilled first`() {
        let buckets = buckets(10, burst: 5)
        #expect(buckets.consume(for: "a") == nil)
        #expect(buckets.overdraw(by: 19, for: "a") == nil)
        #expect(buckets.consume(for: "a") == .milliseconds(1_600))
        // A second batch waits until the first one has been refilled.
        #expect(buckets.overdraw(by: 1, for: "a") == .milliseconds(1_500))
        clock.advance(by: 1_600)
        #expect(consumeAll(buckets, "a") == 1)
        #expect(buckets.overdraw(by: 999, for: "a") == nil)
    }

    @Test
    func `An overdrawn bucket is not forgotten before it is full, and one that is full is`() {
        let buckets = buckets(10, burst: 5)
        #expect(buckets.consume(for: "a") == nil)
        #expect(buckets.overdraw(by: 999, for: "a") == nil)
        for _ in 0..<99 {
            clock.advance(by: 1_000)
            // Of all parts, so that each changes its generation when it is due.
            for number in 0..<400 { _ = buckets.consume(for: UTF8Key("b\(number)")) }
            #expect(buckets.consume(for: "a") != nil)
        }
        clock.advance(by: 600)
        #expect(consumeAll(buckets, "a") == 1)
        for _ in 0..<250 {
            clock.advance(by: 1_000)
            for number in 0..<400 { _ = buckets.consume(for: UTF8Key("c\(number)")) }
        }
        #expect(buckets.count == 400)
    }

    @Test
    func `The number of buckets is bounded, and a client that goes on stays limited`() {
        let buckets = buckets(1, burst: 2, maximumCount: 1_000)
        #expect(consumeAll(buckets, "a") == 2)
        for number in 0..<100_000 {
            #expect(buckets.consume(for: UTF8Key("\(number)")) == nil)
            if number.isMultiple(of: 100) { #expect(buckets.consume(for: "a") != nil) }
        }
        #expect(buckets.count <= 1_000)
    }

    @Test
    func `Calls that wait in order are refilled one after the other`() {
        let buckets = buckets(10, burst: 2)
        #expect((0..<4).map { _ in buckets.reserve(for: "a") } == [.zero, .zero, .milliseconds(100), .milliseconds(200)])
        clock.advance(by: 300)
        #expect((0..<2).map { _ in buckets.reserve(for: "a") } == [.zero, .milliseconds(100)])
    }

    @Test
    func `A rate can be set, changed and removed; with another one, buckets are full`() {
        let buckets = TokenBuckets(nil) { [clock] in clock.nanoseconds }
        #expect(buckets.isOff)
        for _ in 0..<100 { #expect(buckets.consume(for: "a") == nil) }
        buckets.set(.init(callsPerSecond: 10, burst: 5))
        #expect(consumeAll(buckets, "a") == 5)
        buckets.set(.init(callsPerSecond: 10, burst: 8))
        #expect(consumeAll(buckets, "a") == 3)
        #expect(buckets.overdraw(by: 1_000, for: "a") == nil)
        buckets.set(.init(callsPerSecond: 1_000, burst: 8))
        #expect(consumeAll(buckets, "a") == 8)
        buckets.set(nil)
        for _ in 0..<100 { #expect(buckets.consume(for: "a") == nil) }
        #expect(buckets.count == 0)
    }

    @Test
    func `Clients on several threads get no more than their calls`() async {
        let buckets = buckets(1, burst: 1_000)
        let count = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { consumeAll(buckets, "a") } }
            return await group.reduce(0, +)
        }
        #expect(count == 1_000)
    }
}
