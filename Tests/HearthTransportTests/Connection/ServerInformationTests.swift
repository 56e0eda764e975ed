import DocumentModel
import StrictJSON
import Testing

@testable import HearthTransport

@Suite("Server information")
struct ServerInformationTests {
    private static let response = #"""
        {"name":"Hearth","version":"0.1.0","database":"hearth/(default)","epoch":"9f86","sequence":41,"oldestSequence":2,
         "commitTime":"2024-02-29T12:00:00.000000Z","uptimeSeconds":86400,"later":{},
         "limits":{"bodyBytes":16777216,"batchCount":1000,"pageSize":1000,"documentBytes":1048576}}
        """#

    @Test func `Server information is parsed, and unknown members are ignored`() throws {
        let information = try ServerInformation(json: JSONText(Self.response).root)
        #expect(information.name == "Hearth")
        #expect(information.version == "0.1.0")
        #expect(information.epoch == "9f86")
        #expect(information.sequence == 41)
        #expect(information.oldestSequence == 2)
        #expect(information.commitTime == (try Timestamp(rfc3339: "2024-02-29T12:00:00Z")))
        #expect(information.uptime == .seconds(86_400))
        #expect(information.limits.batchCount == 1_000)
    }

    @Test(arguments: [
        (#""sequence":41"#, #""sequence":-1"#), (#""sequence":41"#, #""sequence":4.0"#), (#""version":"0.1.0""#, #""version":1"#),
        (#""limits""#, #""other""#), ("2024-02-29T12", "2023-02-29T12"),
    ])
    func `Malformed server information is rejected`(part: String, other: String) throws {
        let text = Self.response.replacing(part, with: other)
        #expect(text != Self.response)
        let json = try JSONText(text).root
        #expect(throws: StatusError.self) { try ServerInformation(json: json) }
    }
}
