import DocumentModel
import Foundation
import HearthClient
import TestSupport
import Testing
import UTF8Text

/// Compatibility with the formats in which data folders are written now, and refusal of newer ones.
///
/// `Fixtures/journal-3.tar.gz` is a data folder with `hearth.json` of format 1, a journal of format 3 and an index of format 6, after
/// `kill -9`. When one of them changes, it stays, and one in the new format comes beside it.
@Suite("Formats of data folders", .timeLimit(.minutes(10)))
struct FormatTests {
    @Test func `A data folder with a journal of format 3 is recovered, read, written, and passes the check`() async throws {
        try await withFixture { folder in
            let server = try await EndToEndServer(data: folder, arguments: ["--project", "shop"])
            let typed = try await hearth("get", "books/typed", "--server", server.address)
            #expect(
                typed.output == [
                    #"{"path":"books/typed","fields":{"array":[1,"a"],"boolean":true,"bytes":{"$bytes":"AAEC"},"double":1.5,"#
                        + #""integer":1,"map":{"a":{"b":1}},"null":null,"point":{"$geoPoint":{"latitude":1.0,"longitude":2.0}},"#
                        + #""reference":{"$reference":"books/other"},"string":"ä€","#
                        + #""time":{"$timestamp":"2026-11-21T00:00:00.000000Z"}},"createTime":"2026-11-27T02:06:47.404177Z","#
                        + #""updateTime":"2026-11-27T02:06:47.404177Z"}"#
                ]
            )
            let query = #"{"collection":"books","where":{"field":"n","op":"==","value":2}}"#
            let changed = try await hearth("query", query, "--server", server.address)
            #expect(changed.output.count == 1 && changed.output.first?.contains(#""path":"books/changed""#) == true, "\(changed)")
            #expect(try await hearth("list", "books", "--server", server.address).output == ["books/changed", "books/typed"])
            let other = try await hearth("list", "orders", "--database", "tests", "--server", server.address)
            #expect(other.output == ["orders/o1"])
            // The recovery has lost no commit of the six.
            #expect(try await server.connection.serverInformation().sequence == 6)
            _ = try await server.connection.set(DocumentPath("books/new"), ["n": .integer(5)])
            #expect(try await server.stop() == .code(0))
            let check = try await hearth("check", "--data", folder.path)
            #expect(check.status == .code(0), "\(check)")
        }
    }

    @Test(arguments: [
        ("hearth.json", "The data folder has format version 2, but this version of Hearth reads versions up to 1."),
        ("journal/00000000000000000001.journal", "has format version 5; this version of Hearth reads versions 2 to 4."),
    ])
    func `A newer format is refused with both versions, and nothing is changed`(file: String, message: String) async throws {
        try await withFixture { folder in
            let url = folder.appending(path: file)
            var bytes = try Data(contentsOf: url)
            if file == "hearth.json" {
                bytes = Data(String(decoding: bytes, as: UTF8.self).replacing("\"format\":1", with: "\"format\":2").utf8)
            } else {
                bytes[8] = 5
            }
            try bytes.write(to: url)
            let result = try await hearth("serve", "--data", folder.path, "--port", "0")
            #expect(result.status == .code(1))
            #expect(result.errorText.contains(message), "\(result)")
            #expect(try Data(contentsOf: url) == bytes)
        }
    }

    /// Calls `body` with a copy of the data folder.
    private func withFixture(_ body: (URL) async throws -> Void) async throws {
        let archive = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/journal-3.tar.gz").path
        try await withTemporaryFolder { folder in
            // With the current time as the modification time: journal segments are retained for a day.
            let result = try await shell("tar -xzmf '\(archive)' -C '\(folder.path)'")
            try #require(result.status == .code(0), "\(result)")
            try await body(folder.appending(path: "data"))
        }
    }
}
