import DocumentModel
import DocumentStore
import Foundation
import JSONRPC
import StrictJSON
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("The identity of documents.commit") struct CommitIdentityTests {
    private static let client = "AAECAwQFBgcICQoLDA0ODw"

    private static func params(
        _ number: Int,
        after: Int? = nil,
        writes: String = #"{"set": {"path": "a/b", "merge": true, "fields": {}, "#
            + #""transforms": [{"field": "n", "increment": 1}]}}"#,
        transaction: String? = nil
    ) -> String {
        let after = after.map { #", "after": \#($0)"# } ?? ""
        let transaction = transaction.map { #", "transaction": "\#($0)""# } ?? ""
        return #"{"writes": [\#(writes)]\#(transaction), "identity": {"client": "\#(client)", "number": \#(number)\#(after)}}"#
    }

    private static func failure(
        _ params: String,
        in service: TemporaryService
    ) async throws -> (code: Int64?, message: String, data: JSONNode?) {
        let error = try #require(try await service.response(to: "documents.commit", params)["error"])
        let message = error["message"]?.string ?? ""
        guard case .integer(let code) = error["code"]?.number else { return (nil, message, error["data"]) }
        return (code, message, error["data"])
    }

    private static func number(in service: TemporaryService) async throws -> String? {
        try await service.member("fields", of: "documents.get", #"["a/b"]"#)
    }

    @Test func `A commit that is sent again gets the first answer, which says so`() async throws {
        try await withService { service in
            let first = try await service.result(of: "documents.commit", Self.params(1))
            let again = try await service.result(of: "documents.commit", Self.params(1))
            #expect(again == String(first.dropLast()) + #","replayed":true}"#)
            #expect(try JSONText(first).root["seq"]?.number == .integer(1))
            #expect(try JSONText(first).root["replayed"] == nil)
            #expect(try await Self.number(in: service) == #"{"n":1}"#)
            _ = try await service.result(of: "documents.commit", Self.params(2, after: 1))
            #expect(try await Self.number(in: service) == #"{"n":2}"#)
        }
    }

    @Test func `The answer tells the epoch, as do those to reads that a client may keep`() async throws {
        try await withService { service throws in
            let epoch = #""\#(service.context.store.position.epoch)""#
            #expect(try await service.member("epoch", of: "documents.commit", Self.params(1)) == epoch)
            #expect(try await service.member("epoch", of: "documents.batchGet", #"{"paths": ["a/b"]}"#) == epoch)
            #expect(try await service.member("epoch", of: "query.run", #"{"collection": "a"}"#) == epoch)
            #expect(try await service.member("epoch", of: "documents.commit", #"{"writes": []}"#) == nil)
        }
    }

    @Test func `A commit that changes nothing has no sequence number`() async throws {
        try await withService { service in
            let write = #"{"delete": {"path": "a/missing"}}"#
            let result = try await service.result(of: "documents.commit", Self.params(1, writes: write))
            #expect(try JSONText(result).root["seq"] == nil)
            let token = try #require(try await service.member("token", of: "changes.poll", #"{"collection": "a"}"#))
            let set = #"{"set": {"path": "a/b", "fields": {}}}"#
            for number in [2, 3] {
                _ = try await service.result(of: "documents.commit", Self.params(number, after: number - 1, writes: set))
            }
            let changes = try await service.member("changes", of: "changes.poll", #"{"collection": "a", "resume": \#(token)}"#)
            #expect(changes.map { $0.components(separatedBy: #""type":"added""#).count } == 2)
        }
    }

    @Test func `Errors about the identity have a reason that programs can read`() async throws {
        try await withService { service in
            let gap = try await Self.failure(Self.params(2), in: service)
            #expect(gap.code == 9)
            #expect(gap.data?["reason"]?.string == "identityGap")
            #expect(gap.data?["expected"]?.number == .integer(1))
            let forgotten = try await Self.failure(Self.params(3, after: 2), in: service)
            #expect(forgotten.code == 11)
            #expect(forgotten.data?["reason"]?.string == "identityForgotten")
            #expect(forgotten.data?["expected"] == nil)
            _ = try await service.result(of: "documents.commit", Self.params(1))
            let other = try await Self.failure(Self.params(1, writes: #"{"delete": {"path": "a/b"}}"#), in: service)
            #expect(other.code == 3)
            #expect(other.data?["reason"]?.string == "identityReused")
            #expect(!other.message.contains(Self.client))
            _ = try await service.result(of: "documents.commit", Self.params(2, after: 1))
            let acknowledged = try await Self.failure(Self.params(1), in: service)
            #expect(acknowledged.data?["reason"]?.string == "identityForgotten")
            #expect(acknowledged.data?["expected"]?.number == .integer(3))
            #expect(try await Self.number(in: service) == #"{"n":2}"#)
        }
    }

    @Test func `The ID of a short-lived client is known by its first bytes, also as the digest that is stored`() async throws {
        func identity(_ client: String) throws -> CommitIdentityParameter {
            let json = try JSONText(#"{"client": "\#(client)", "number": 1}"#).root
            return try CommitIdentityParameter(json: json, at: .params)
        }
        let shortLived = try identity("AAAAAAAABwgJCgsMDQ4PAA").client
        #expect(try shortLived.isShortLived && shortLived != identity("AAAAAAAABwgJCgsMDQ4PEA").client)
        #expect(shortLived.text != "AAAAAAAABwgJCgsMDQ4PAA")
        #expect(try !identity(Self.client).client.isShortLived)
    }

    @Test(
        arguments: [
            #"{}"#, #"{"client": "x", "number": 1}"#, #"{"client": "AAECAwQFBgcICQoLDA0ODw"}"#,
            #"{"client": "AAECAwQFBgcICQoLDA0ODw", "number": 0}"#, #"{"client": "AAECAwQFBgcICQoLDA0ODw", "number": 1.5}"#,
            #"{"client": "AAECAwQFBgcICQoLDA0ODw", "number": 1, "after": 1}"#,
            #"{"client": "AAECAwQFBgcICQoLDA0ODw", "number": 1, "after": -1}"#,
            #"{"client": "AAECAwQFBgcICQoLDA0ODw", "number": 9223372036854775808}"#,
            #"{"client": "AAECAwQFBgcICQoLDA0ODw", "number": 1, "x": 1}"#, "1", #""x""#,
        ]
    )
    func `An identity that is not valid is refused, without being quoted`(identity: String) async throws {
        try await withService { service in
            let error = try await Self.failure(#"{"writes": [], "identity": \#(identity)}"#, in: service)
            #expect(error.code == -32_602)
            #expect(error.message.contains("params.identity"), "\(error.message)")
        }
    }

    @Test func `A commit without writes has no identity`() async throws {
        try await withService { service in
            let error = try await Self.failure(
                #"{"writes": [], "identity": {"client": "\#(Self.client)", "number": 1}}"#,
                in: service
            )
            #expect(error.code == 3)
        }
    }

    @Test func `The error of a commit says whether it was made`() async throws {
        try await withService { service in
            let update = #"{"update": {"path": "a/missing", "fields": {"n": 1}}}"#
            for _ in 1...2 {
                let error = try await Self.failure(Self.params(1, writes: update), in: service)
                #expect(error.code == 5)
                #expect(error.data?["decided"]?.boolean == true)
            }
        }
    }

    @Test func `The same writes in another spelling are the same commit`() async throws {
        try await withService { service in
            _ = try await service.result(
                of: "documents.commit",
                Self.params(1, writes: #"{"set": {"path": "a/b", "fields": {"x": 1, "y": "\u00e9"}}}"#)
            )
            let again = try await service.member(
                "replayed",
                of: "documents.commit",
                Self.params(1, writes: #"{ "set": {"fields": {"y": "é", "x": 1}, "path": "a/b"} }"#)
            )
            #expect(again == "true")
        }
    }

    @Test func `The commit of a transaction that has ended is answered if it was made`() async throws {
        try await withService { service in
            let transaction = try #require(
                try JSONText(await service.result(of: "transactions.begin", "{}")).root["transaction"]?.string
            )
            let first = try await service.result(of: "documents.commit", Self.params(1, transaction: transaction))
            let again = try await service.result(of: "documents.commit", Self.params(1, transaction: transaction))
            #expect(again == String(first.dropLast()) + #","replayed":true}"#)
            // Of a transaction that was lost with a restart, nothing was made.
            let error = try await Self.failure(Self.params(2, after: 1, transaction: "AAECAwQFBgcICQoLDA0ODw"), in: service)
            #expect(error.code == 10)
            #expect(try await Self.number(in: service) == #"{"n":1}"#)
        }
    }

    @Test func `A commit that the rules permitted is answered again, although they would not permit it twice`() async throws {
        let fixture = try RulesFixture("match /a/{id} { allow create; }")
        let context = try fixture.context.withCaller(RulesFixture.caller("ford"))
        let params = CommitWrites.Params(
            writes: [try .create(DocumentPath("a/b"), [:])],
            identity: CommitIdentity(client: .random(), number: 1, after: 0, fingerprint: 1)
        )
        let first = try await CommitWrites.call(params, in: context)
        #expect(try await CommitWrites.call(params, in: context) == first.replayed)
    }
}
