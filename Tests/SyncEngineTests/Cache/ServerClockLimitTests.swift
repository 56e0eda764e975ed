import DocumentModel
import SyncEngine
import Testing

@Suite("Limits of the server's clock")
struct ServerClockLimitTests {
    @Test(arguments: [Int64.min, .min + 1, .max])
    func `Any offset in a damaged cache can be replaced`(offset: Int64) throws {
        let damaged = ServerClock(offset: offset, latest: .minimum)
        #expect(ServerClock(offset: 1).isWorthSaving(over: damaged))
        #expect(ServerClock(offset: -1).isWorthSaving(over: damaged))
        #expect(damaged.isWorthSaving(over: ServerClock()))
        #expect(damaged.time(at: try Timestamp(microseconds: 1)) >= .minimum)
    }
}
