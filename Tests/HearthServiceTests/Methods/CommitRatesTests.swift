import DocumentStore
import HearthService
import StrictJSON
import Testing

@Suite("How fast commits come")
struct CommitRatesTests {
    @Test("is told for the last minute, interval by interval")
    func rates() {
        let rates = CommitRates()
        #expect(rates.current.perInterval.isEmpty && rates.current.recent == 0)
        let start = ContinuousClock.now
        for (index, sequence) in [0, 100, 100, 400].enumerated() {
            rates.note(SequenceNumber(UInt64(sequence)), at: start + CommitRates.interval * index)
        }
        #expect(rates.current.perInterval == [10, 0, 30])
        #expect(rates.current.recent == 40.0 / 3)
    }

    @Test("is kept for no more intervals than ten minutes have")
    func bound() {
        let rates = CommitRates()
        let start = ContinuousClock.now
        for index in 0..<200 { rates.note(SequenceNumber(UInt64(index)), at: start + CommitRates.interval * index) }
        #expect(rates.current.perInterval.count == 60)
    }

    @Test("is told for each database by itself")
    func databases() async throws {
        try await withService { service in
            let start = ContinuousClock.now
            func write(_ database: String) async throws {
                try await service.result(
                    of: "documents.create",
                    #"{"collection": "c", "fields": {}, "database": "\#(database)"}"#
                )
            }
            for name in ["(default)", "busy", "idle"] { try await write(name) }
            await service.context.noteCommits(at: start)
            for name in ["(default)", "busy", "busy", "busy"] { try await write(name) }
            await service.context.noteCommits(at: start + .seconds(10))
            for (name, rate) in [("(default)", "0.1"), ("busy", "0.3"), ("idle", "0.0"), ("new", "0.0")] {
                let told = try await service.member("commitsPerSecond", of: "server.info", #"{"database": "\#(name)"}"#)
                #expect(told == rate, "\(name)")
            }
        }
    }
}
