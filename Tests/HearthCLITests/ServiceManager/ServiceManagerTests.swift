import Foundation
import TestSupport
import Testing

@testable import HearthCLI

@Suite("Service manager")
struct ServiceManagerTests {
    @Test func `A message arrives as lines, at a path and in the abstract namespace`() async throws {
        try await withTemporaryFolder { folder in
            for name in [folder.appendingPathComponent("notify").path, "@hearth-\(UUID().uuidString)"] {
                let receiver = try NotifySocket(name)
                let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": name]))
                await manager.notify(.ready, .status("Two\nlines"))
                #expect(try await receiver.receive() == ["READY=1", "STATUS=Two lines"])
                await manager.notify(.stopping)
                #expect(try await receiver.receive() == ["STOPPING=1"])
            }
        }
    }

    @Test func `No message is lost while the service manager is busy`() async throws {
        let name = "@hearth-\(UUID().uuidString)"
        let receiver = try NotifySocket(name, receivingAfter: 0.3)
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": name]))
        // More than the system holds for a receiver.
        let maximum = try String(contentsOfFile: "/proc/sys/net/unix/max_dgram_qlen", encoding: .utf8)
        let count = try #require(Int(maximum.trimmingCharacters(in: .whitespacesAndNewlines))) + 10
        for index in 0..<count { await manager.notify(.status("\(index)")) }
        for index in 0..<count { #expect(try await receiver.receive() == ["STATUS=\(index)"]) }
    }

    @Test(arguments: [nil, "", "relative", "/" + String(repeating: "a", count: 200)])
    func `Without a usable address, there is no service manager`(address: String?) {
        let environment = address.map { ["NOTIFY_SOCKET": $0] } ?? [:]
        #expect(ServiceManager(environment: environment) == nil)
    }

    @Test func `A service manager that does not listen does not matter`() async throws {
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": "/nonexistent/notify"]))
        await manager.notify(.ready)
    }

    @Test(
        arguments: [
            (["WATCHDOG_USEC": "30000000"], 30), (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"], 30),
            (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"], nil), (["WATCHDOG_USEC": "0"], nil),
            (["WATCHDOG_USEC": "x"], nil),
            ([:], nil),
        ] as [([String: String], Int?)]
    )
    func `The interval of the watchdog is that of this process`(environment: [String: String], seconds: Int?) throws {
        let environment = environment.merging(["NOTIFY_SOCKET": "/run/notify"]) { $1 }
        let manager = try #require(ServiceManager(environment: environment, processID: 7))
        #expect(manager.watchdogInterval == seconds.map { .seconds($0) })
    }
}
