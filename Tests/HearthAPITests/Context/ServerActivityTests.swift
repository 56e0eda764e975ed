import HearthAPI
import Testing

@Suite("Server activity")
struct ServerActivityTests {
    @Test
    func `Open streams are counted`() {
        let activity = ServerActivity()
        activity.adjustWatcherCount(by: 1)
        activity.adjustWatcherCount(by: 1)
        activity.adjustWatcherCount(by: -1)
        #expect(activity.watcherCount == 1)
    }

    @Test(.enabled(if: ProcessMemory.residentBytes != nil))
    func `The resident memory of the process is more than a megabyte`() {
        #expect((ProcessMemory.residentBytes ?? 0) > 1 << 20)
    }
}
