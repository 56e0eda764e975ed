import DocumentStore
import HearthAPI
import Testing
import UTF8Text

@Suite("Commit rates")
struct CommitRatesTests {
    @Test
    func `Rates are computed per interval and for the last minute`() {
        let rates = CommitRates()
        #expect(rates.current.perInterval.isEmpty && rates.current.recent == 0)
        let start = ContinuousClock.now
        for (index, sequence) in [0, 100, 100, 400].enumerated() {
            rates.recordSample(SequenceNumber(UInt64(sequence)), at: start + CommitRates.interval * index)
        }
        #expect(rates.current.perInterval == [10, 0, 30])
        #expect(rates.current.recent == 40.0 / 3)
    }

    @Test
    func `Rates are kept for ten minutes`() {
        let rates = CommitRates()
        let start = ContinuousClock.now
        for index in 0..<200 { rates.recordSample(SequenceNumber(UInt64(index)), at: start + CommitRates.interval * index) }
        #expect(rates.current.perInterval.count == 60)
    }

    @Test
    func `Each database has its own rates`() async throws {
        try await withService { service in
            let start = ContinuousClock.now
            func write(_ database: String) async throws {
                try await service.result(
                    of: "documents.create",
                    #"{"collection": "c", "fields": {}, "database": "\#(database)"}"#
                )
            }
            for name in ["(default)", "busy", "idle"] { try await write(name) }
            await service.context.sampleCommitRates(at: start)
            for name in ["(default)", "busy", "busy", "busy"] { try await write(name) }
            await service.context.sampleCommitRates(at: start + .seconds(10))
            for (name, rate) in [("(default)", "0.1"), ("busy", "0.3"), ("idle", "0.0"), ("new", "0.0")] {
                let reported = try await service.member("commitsPerSecond", of: "server.info", #"{"database": "\#(name)"}"#)
                #expect(reported == rate, "\(name)")
            }
        }
    }
}
