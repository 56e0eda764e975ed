import HearthService
import Testing

@Suite("What goes on in a server")
struct ServerActivityTests {
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
