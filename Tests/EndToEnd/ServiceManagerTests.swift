import Foundation
import TestSupport
import Testing

@Suite("Server as a service", .tags(.slow), .timeLimit(.minutes(10)))
struct ServiceManagerTests {
    @Test func `The service manager is told when the server is ready, that it works, and that it stops`() async throws {
        try await withTemporaryFolder { folder in
            let socket = try NotifySocket(folder.appendingPathComponent("notify").path)
            let process = try HearthProcess(
                ["serve", "--data", folder.appendingPathComponent("data").path, "--port", "0"],
                environment: ["NOTIFY_SOCKET": folder.appendingPathComponent("notify").path, "WATCHDOG_USEC": "900000"]
            )
            #expect(try await socket.receive() == ["STATUS=Recovering the data folder"])
            var messages: [[String]] = []
            let working = ["WATCHDOG=1", "STATUS=Serving requests"]
            while !messages.contains(["READY=1", "WATCHDOG_USEC=900000"]) || messages.count(where: { $0 == working }) < 3 {
                messages.append(try await socket.receive())
            }
            process.send(SIGTERM)
            var last: [String] = working
            while last == working { last = try await socket.receive() }
            #expect(last == ["STOPPING=1", "STATUS=Finishing requests"])
            #expect(try await process.exitStatus() == .code(0))
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze")))
    func `The unit is valid, and exposes little`() async throws {
        let unit = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "deploy/hearth.service").path
        let exposure = try await shell("systemd-analyze security --offline=true --threshold=20 --no-pager '\(unit)'")
        #expect(exposure.status == .code(0), "\(exposure)")
        // The user and the program exist only where Hearth is installed.
        let verified = try await shell("systemd-analyze verify '\(unit)' 2>&1 | grep hearth.service | grep -v 'not executable'")
        #expect(verified.output == [])
    }
}
