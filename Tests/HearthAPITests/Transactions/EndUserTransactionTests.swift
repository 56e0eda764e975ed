import DocumentModel
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("Transactions of end users") struct EndUserTransactionTests {
    private static func user(_ number: Int) -> Caller.Identity {
        .endUser(EndUser.ID(issuer: "tests", uid: UTF8Key("\(number)")))
    }

    @Test func `One end user, and all of them, leave transactions to others`() throws {
        let registry = TransactionRegistry(limits: TransactionLimits(maximumCount: 20, maximumCountPerEndUser: 4))
        var open: [TransactionID] = []
        for _ in 1...4 { open.append(try registry.begin(.readWrite, for: .endUser(nil))) }
        #expect(throws: StatusError.self) { try registry.begin(.readWrite, for: .endUser(nil)) }
        registry.rollback(open[0], for: .endUser(nil))
        _ = try registry.begin(.readWrite, for: .endUser(nil))
        for number in 1...6 { _ = try registry.begin(.readWrite, for: Self.user(number)) }
        #expect(throws: StatusError.self) { try registry.begin(.readWrite, for: Self.user(7)) }
        for _ in 1...10 { _ = try registry.begin(.readWrite, for: .key("k")) }
        #expect(throws: StatusError.self) { try registry.begin(.readWrite, for: .key("k")) }
    }
}
