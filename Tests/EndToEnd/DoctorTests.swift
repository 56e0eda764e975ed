import DocumentModel
import Foundation
import HearthClient
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("hearth doctor")
struct DoctorTests {
    @Test func `The report has the machine, the settings, the data folder and the server, but nothing from documents`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let data = folder.appendingPathComponent("data")
            let server = try await EndToEndServer(data: data, arguments: [])
            _ = try await server.connection.set(DocumentPath("secrets/hidden"), ["word": .string("mellon")])
            let port = try #require(URL(string: server.address)?.port)
            let arguments = ["--data", data.path, "--port", "\(port)", "--keep-hours", "3", "--metrics"]
            let result = try await HearthProcess(["doctor"] + arguments).result()
            let text = result.output.joined(separator: "\n")
            // The clock and the disk of the machine may need attention.
            #expect([.code(0), .code(1)].contains(result.status))
            for section in ["System", "Settings", "Data folder", "Server", "Metrics"] {
                #expect(result.output.contains("== \(section)"))
            }
            #expect(text.contains(#/keepHours +3  \(--keep-hours\)/#))
            for pattern in [#/open in +process \d+, /#, #/last commit +1, /#, #/journal +1 segment, /#, #/hearth_writable +1/#] {
                #expect(text.contains(pattern))
            }
            #expect(!text.contains("mellon") && !text.contains("hidden") && !text.contains("secrets"))

            let json = try await HearthProcess(["doctor", "--json"] + arguments).result()
            let root = try JSONText(Array(json.output.joined().utf8)).root
            #expect(root["sections"]?["Server"]?["address"]?.string == server.address)
            #expect(root["problems"] != nil)

            #expect(try await server.stop() == .code(0))
            let stopped = try await HearthProcess(["doctor"] + arguments).result()
            #expect(stopped.status == .code(1))
            #expect(stopped.output.contains { $0.hasPrefix("! The server could not be asked: ") })
            #expect(stopped.output.contains { $0.contains(#/open in +no process/#) })
        }
    }
}
