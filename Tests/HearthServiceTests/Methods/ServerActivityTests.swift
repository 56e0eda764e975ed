import DocumentStore
import HearthService
import Testing

@Suite("What goes on in a server")
struct ServerActivityTests {
    @Test("The rate is that of the last minute, interval by interval")
    func rates() {
        let activity = ServerActivity()
        #expect(activity.rates.perInterval.isEmpty && activity.rates.recent == 0)
        let start = ContinuousClock.now
        for (index, sequence) in [0, 100, 100, 400].enumerated() {
            activity.note(SequenceNumber(UInt64(sequence)), at: start + ServerActivity.interval * index)
        }
        #expect(activity.rates.perInterval == [10, 0, 30])
        #expect(activity.rates.recent == 40.0 / 3)
    }

    @Test("No more intervals are kept than ten minutes have")
    func bound() {
        let activity = ServerActivity()
        let start = ContinuousClock.now
        for index in 0..<200 { activity.note(SequenceNumber(UInt64(index)), at: start + ServerActivity.interval * index) }
        #expect(activity.rates.perInterval.count == 60)
    }

    @Test("Streams are counted while they are open")
    func watchers() {
        let activity = ServerActivity()
        activity.note(watchers: 1)
        activity.note(watchers: 1)
        activity.note(watchers: -1)
        #expect(activity.watcherCount == 1)
    }

    @Test("The memory of this process is more than a megabyte", .enabled(if: ProcessMemory.residentBytes != nil))
    func memory() {
        #expect((ProcessMemory.residentBytes ?? 0) > 1 << 20)
    }
}
