import TestSupport
import Testing

@testable import HearthClient

@Suite("TransactionBackoff") struct TransactionBackoffTests {
    /// Clients on a virtual clock that increment one counter in transactions, and of whose reads and commits a server does two at a time.
    private struct Contention {
        private enum Step {
            case start
            case read(started: Duration)
            case commit(started: Duration, version: Int)
        }

        private var events: [(time: Duration, client: Int, step: Step)] = []
        private var attempts: [Int]
        private var workers = [Duration.zero, .zero]
        private var version = 0
        private var generator: SeededGenerator
        private let jobTime: Duration
        private(set) var failureCount = 0

        init(clientCount: Int, jobTime: Duration, seed: UInt64) {
            attempts = Array(repeating: 1, count: clientCount)
            self.jobTime = jobTime
            generator = SeededGenerator(seed: seed)
            for client in 0..<clientCount { events.append((.zero, client, .start)) }
        }

        /// Runs all transactions until each has succeeded or failed five times.
        mutating func run() {
            while let next = events.indices.min(by: { events[$0].time < events[$1].time }) {
                let (time, client, step) = events.remove(at: next)
                switch step {
                case .start:
                    // A read sees the version as of its end; of two that end at different times, the earlier one is taken first.
                    events.append((work(from: time), client, .read(started: time)))
                case .read(let started):
                    events.append((work(from: time), client, .commit(started: started, version: version)))
                case .commit(_, version):
                    version += 1
                case .commit(let started, _):
                    let attempt = attempts[client]
                    guard attempt < 5 else {
                        failureCount += 1
                        continue
                    }
                    attempts[client] = attempt + 1
                    let delay = TransactionBackoff.delay(after: attempt, lasting: time - started, using: &generator)
                    events.append((time + delay, client, .start))
                }
            }
        }

        /// Occupies a worker for a time between none and twice the usual one, and returns its end.
        private mutating func work(from time: Duration) -> Duration {
            let worker = workers[0] <= workers[1] ? 0 : 1
            workers[worker] = max(time, workers[worker]) + jobTime * Double.random(in: 0...2, using: &generator)
            return workers[worker]
        }
    }

    @Test(arguments: [.milliseconds(1), .milliseconds(20), .milliseconds(300)] as [Duration])
    func `Of twenty clients that change one document, nearly all need at most five attempts`(jobTime: Duration) {
        let runs = 200
        var failureCount = 0
        for run in 0..<runs {
            var contention = Contention(clientCount: 20, jobTime: jobTime, seed: SeededGenerator.currentSeed &+ UInt64(run))
            contention.run()
            failureCount += contention.failureCount
        }
        #expect(failureCount < runs * 20 / 1_000, "seed \(SeededGenerator.currentSeed)")
    }

    @Test
    func `Delays grow with the attempts and their duration, up to a minute`() {
        var generator = SeededGenerator()
        for (attempt, duration, limit) in [
            (1, .zero, .zero), (1, .milliseconds(25), .milliseconds(100)), (2, .milliseconds(25), .milliseconds(300)),
            (9, .milliseconds(50), .milliseconds(5_400)), (4, .seconds(3), .seconds(60)),
        ] as [(Int, Duration, Duration)] {
            let delays = (0..<200).map { _ in TransactionBackoff.delay(after: attempt, lasting: duration, using: &generator) }
            #expect(delays.allSatisfy { $0 >= .zero && $0 <= limit })
            #expect(delays.contains { $0 >= limit * 0.8 } && delays.contains { $0 <= limit * 0.2 }, "seed \(generator.seed)")
        }
    }

    @Test
    func `A delay is at least the one that the server names`() {
        var generator = SeededGenerator()
        let delays = (0..<200).map { _ in
            TransactionBackoff.delay(after: 1, lasting: .milliseconds(25), atLeast: .milliseconds(50), using: &generator)
        }
        #expect(delays.contains(.milliseconds(50)) && delays.contains { $0 > .milliseconds(75) }, "seed \(generator.seed)")
        #expect(delays.allSatisfy { $0 >= .milliseconds(50) })
    }
}
