import DocumentModel
import Foundation
import JSONRPC
import StrictJSON
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("Examples of the API reference") struct MethodExampleTests {
    @Test
    func `Every method except rpc.discover has an example`() {
        for method in HearthMethods.table.methods where method.name != "rpc.discover" {
            #expect(!method.examples.isEmpty, "\(method.name)")
        }
    }

    @Test
    func `The examples, called in order, return the documented results`() async throws {
        try await withService(makesBackups: true) { service in
            try await service.result(of: "documents.commit", Self.preparation)
            try Data(Self.keys.utf8).write(to: URL(filePath: service.folder + "/keys.json"))
            await service.context.keys.refresh()
            // Only a standby can be promoted, which restarts, only open streams have targets, a backup is named by its time, and no
            // files have been edited.
            let others: Set<UTF8Key> = [
                "server.promote", "watch.addTargets", "watch.removeTargets", "backups.verify", "files.problems",
                "files.acceptRemoved",
            ]
            for method in HearthMethods.table.methods where !others.contains(method.name) {
                for example in method.examples {
                    let params = String(decoding: example.params.root.rawBytes, as: UTF8.self)
                    let result = try JSONText(try await service.result(of: method.name.string, params)).root
                    #expect(
                        isSame(result, as: example.result.root),
                        "\(method.name), \(example.name): \(String(decoding: result.rawBytes, as: UTF8.self))"
                    )
                }
                // The example of a backup has the default database only.
                if method.name == "databases.create" {
                    try await service.context.databases?.delete(DatabaseID("staging", inProject: "hearth"))
                }
                // The next example shows the backup.
                if method.name == "backups.create" { _ = await service.context.databases?.backupTask?.task.value }
            }
        }
    }

    private static let preparation = #"""
        {"writes": [
            {"set": {"path": "books/hitchhiker", "fields": {
                "title": "The Hitchhiker's Guide to the Galaxy", "author": "Douglas Adams", "numberOfPages": 816
            }}},
            {"set": {"path": "books/restaurant", "fields": {"title": "The Restaurant at the End of the Universe"}}},
            {"set": {"path": "books/hitchhiker/reviews/r1", "fields": {"stars": 5}}}
        ]}
        """#

    private static let keys = #"""
        {"format":1,"keys":[
        {"id":"5f0c1e9ab3d2","label":"backups","role":"reader","createTime":"2024-02-29T12:00:00.000000Z","sha256":
        "f55ca2d68c4e4ac0c0f3a1d9dfe35dbd7a9f3a8a1a6ff3e29c5e0b9a8f04b1e6"}
        ]}
        """#

    /// Returns whether two values are equal except for variable parts: times, the epoch, transaction IDs, and counters of
    /// `server.info`.
    private func isSame(_ value: JSONNode, as example: JSONNode) -> Bool {
        guard value.kind == example.kind else { return false }
        switch example.kind {
        case .object:
            // The total depends on the state of the index.
            let members = [value, example].map { ($0.members.map(Array.init) ?? []).filter { $0.key != "documentsTotal" } }
            return members[0].count == members[1].count
                && zip(members[0], members[1]).allSatisfy { member, example in
                    member.key == example.key && (Self.variable.contains(member.key) || isSame(member.value, as: example.value))
                }
        case .array:
            return value.count == example.count
                && zip(value.elements.map(Array.init) ?? [], example.elements.map(Array.init) ?? []).allSatisfy(isSame)
        case .string where isTime(example.string):
            return isTime(value.string)
        case .string where isBackupName(example.string):
            return isBackupName(value.string)
        case .null, .boolean, .number, .string:
            return value.rawBytes == example.rawBytes
        }
    }

    private static let variable: Set<UTF8Key> = [
        "epoch", "transaction", "sequence", "oldestSequence", "uptimeSeconds", "milliseconds", "token", "key", "id", "state",
        "documentsDone", "changes", "memoryBytes", "size", "storage", "lastCommit", "files", "bytes", "seq",
    ]

    private func isBackupName(_ text: String?) -> Bool {
        guard let text, text.utf8.count == 20, text.utf8.last == UInt8(ascii: "Z") else { return false }
        return isTime(text.prefix(13) + ":" + text.dropFirst(14).prefix(2) + ":" + text.dropFirst(17))
    }

    private func isTime(_ text: String?) -> Bool {
        text.flatMap { try? Timestamp(rfc3339: $0) } != nil
    }
}
