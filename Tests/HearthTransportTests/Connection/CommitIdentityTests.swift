import DocumentModel
import Foundation
import StrictJSON
import Synchronization
import Testing
import TransportTestSupport
import UTF8Text

@testable import HearthTransport

@Suite("Identities of commits", .timeLimit(.minutes(10)))
struct CommitIdentityTests {
    /// The identity in a request.
    private struct Identity: Hashable {
        let client: String
        let number: Int64
        let after: Int64

        init?(_ request: StubServer.Request) {
            guard let json = try? JSONText(Array(request.body.utf8)).root["params"]?["identity"],
                let client = json["client"]?.string,
                case .integer(let number) = json["number"]?.number, case .integer(let after) = json["after"]?.number
            else { return nil }
            (self.client, self.number, self.after) = (client, number, after)
        }
    }

    private static func error(_ code: StatusCode, reason: String? = nil) -> StubServer.Response {
        let reason = reason.map { #","reason":"\#($0)""# } ?? ""
        return .json(
            status: 200,
            #"{"jsonrpc":"2.0","id":0,"error":{"code":\#(code.rawValue),"message":"No.","#
                + #""data":{"status":"\#(code.name)"\#(reason)}}}"#
        )
    }

    /// Returns the identities of the commits that a body makes with the responses of a server, and the errors of the commits.
    private func commits(
        _ count: Int,
        resendTimeout: Duration = .seconds(300),
        respond: @escaping @Sendable (_ number: Int) -> StubServer.Response
    ) async throws -> (identities: [Identity?], errors: [StatusError?]) {
        let number = Mutex(0)
        let server = try StubServer { _ in
            respond(
                number.withLock { number in
                    number += 1
                    return number
                }
            )
        }
        let connection = try HearthConnection(server: server.address, resendTimeout: resendTimeout)
        var errors: [StatusError?] = []
        for _ in 0..<count {
            do throws(StatusError) {
                try await connection.delete(DocumentPath("a/b"))
                errors.append(nil)
            } catch {
                errors.append(error)
            }
        }
        await connection.shutdown()
        return (server.requests.map(Identity.init), errors)
    }

    @Test func `Commits that follow each other have the numbers of one client`() async throws {
        let (identities, errors) = try await commits(3) { _ in .committed }
        #expect(errors.allSatisfy { $0 == nil })
        #expect(identities.map { $0?.number } == [1, 2, 3])
        #expect(identities.map { $0?.after } == [0, 1, 2])
        #expect(Set(identities.map { $0?.client }).count == 1)
        #expect(identities.first??.client.utf8.count == 22)
        // The ID of a client that the server need not remember for long.
        #expect(identities.first??.client.utf8.starts(with: "AAAAAAAA".utf8) == true)
    }

    @Test func `A commit that is refused has been answered`() async throws {
        let (identities, errors) = try await commits(3) { $0 == 2 ? Self.error(.notFound) : .committed }
        #expect(errors.map { $0?.code } == [nil, .notFound, nil])
        #expect(identities.map { $0?.number } == [1, 2, 3])
        #expect(identities.map { $0?.after } == [0, 1, 2])
    }

    @Test func `The ID of a client is not used again if nothing was committed with it`() async throws {
        let (identities, errors) = try await commits(2) { $0 == 1 ? Self.error(.notFound) : .committed }
        #expect(errors.map { $0?.code } == [.notFound, nil])
        #expect(identities.map { $0?.number } == [1, 1])
        #expect(Set(identities.map { $0?.client }).count == 2)
    }

    @Test func `Commits at the same time have clients of their own`() async throws {
        let server = try StubServer { _ in .committed }
        let connection = try HearthConnection(server: server.address)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 { group.addTask { try await connection.delete(DocumentPath("a/\(number)")) } }
            try await group.waitForAll()
        }
        await connection.shutdown()
        let identities = server.requests.compactMap(Identity.init)
        #expect(Set(identities).count == 40)
        // As many as there are connections.
        #expect(Set(identities.map(\.client)).count <= 8)
        for (_, ofClient) in Dictionary(grouping: identities, by: \.client) {
            #expect(ofClient.map(\.number).sorted() == (1...Int64(ofClient.count)).map(\.self))
        }
    }

    @Test(arguments: [StubServer.Response.none, .unavailable(retryAfter: nil), .unavailable(retryAfter: "0")])
    func `A commit whose answer is lost is sent again under the same number`(_ response: StubServer.Response) async throws {
        let (identities, errors) = try await commits(2) { $0 <= 2 ? response : .committed }
        #expect(errors.allSatisfy { $0 == nil })
        #expect(identities.map { $0?.number } == [1, 1, 1, 2])
        #expect(Set(identities.map { $0?.client }).count == 1)
    }

    @Test func `The ID of a commit without an answer is not used again`() async throws {
        let (identities, errors) = try await commits(2, resendTimeout: .zero) { $0 == 1 ? .none : .committed }
        #expect(errors[0]?.code == .unavailable && errors[1] == nil)
        #expect(errors[0]?.message.contains("may or may not have taken effect") == true, "\(errors)")
        #expect(identities.map { $0?.number } == [1, 1])
        #expect(Set(identities.map { $0?.client }).count == 2)
    }

    @Test func `When nothing is known of a commit that was sent again, its outcome is unknown`() async throws {
        let (identities, errors) = try await commits(2) { number in
            switch number {
            case 1: .none
            case 2: Self.error(.outOfRange, reason: "identityForgotten")
            default: .committed
            }
        }
        #expect(errors[0]?.code == .unavailable && errors[1] == nil)
        #expect(Set(identities.map { $0?.client }).count == 2)
    }

    @Test func `A server that has forgotten a client gets the commit under a new ID`() async throws {
        let (identities, errors) = try await commits(2) { number in
            number == 2 ? Self.error(.outOfRange, reason: "identityForgotten") : .committed
        }
        #expect(errors.allSatisfy { $0 == nil })
        #expect(identities.map { $0?.number } == [1, 2, 1])
        #expect(identities[1]?.client != identities[2]?.client)
    }

    @Test(arguments: [
        #"{"code":8,"message":"Wait.","data":{"status":"RESOURCE_EXHAUSTED","retryAfterMilliseconds":1,"executed":false}}"#,
        #"{"code":7,"message":"No.","data":{"status":"PERMISSION_DENIED"}}"#,
        #"{"code":16,"message":"Who?","data":{"status":"UNAUTHENTICATED"}}"#,
    ])
    func `A refusal after a lost answer does not say that the commit was not made`(_ refusal: String) async throws {
        let (_, errors) = try await commits(1, resendTimeout: .milliseconds(500)) { number in
            number == 1 ? .none : .json(status: 429, #"{"error":\#(refusal)}"#)
        }
        #expect(errors[0]?.code == .unavailable)
        #expect(errors[0]?.message.contains("may or may not have taken effect") == true, "\(errors)")
    }

    @Test func `A refusal of the commit itself after a lost answer is its outcome`() async throws {
        let refusal = #"{"code":5,"message":"No.","data":{"status":"NOT_FOUND","decided":true}}"#
        let (_, errors) = try await commits(1) { number in
            number == 1 ? .none : .json(status: 200, #"{"jsonrpc":"2.0","id":0,"error":\#(refusal)}"#)
        }
        #expect(errors[0]?.code == .notFound)
    }

    @Test func `A commit without writes has no identity`() async throws {
        let server = try StubServer { _ in .committed }
        let connection = try HearthConnection(server: server.address)
        _ = try await connection.commit([], in: "t")
        await connection.shutdown()
        #expect(server.requests.compactMap(Identity.init).isEmpty)
    }

    @Test func `A server that does not know identities gets commits without them`() async throws {
        let unknown =
            #"{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"Invalid params: params.identity: unknown name; expected "#
            + #"one of: writes, transaction, database","data":{"path":"params.identity"}}}"#
        let (identities, errors) = try await commits(2) { $0 == 1 ? .json(status: 200, unknown) : .committed }
        #expect(errors.allSatisfy { $0 == nil })
        #expect(identities.map { $0 != nil } == [true, false, false])
    }

    @Test func `A commit that could not be sent fails at once`() async throws {
        let port = try { () throws in try LoopbackListener().port }()
        let connection = try HearthConnection(server: ServerAddress("http://127.0.0.1:\(port)"))
        let start = ContinuousClock.now
        let error = await #expect(throws: StatusError.self) { try await connection.delete(DocumentPath("a/b")) }
        #expect(error?.code == .unavailable)
        #expect(.now - start < .seconds(10))
        await connection.shutdown()
    }
}
