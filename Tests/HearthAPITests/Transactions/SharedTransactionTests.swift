import Cryptography
import DocumentModel
import DocumentStore
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("Transactions of other servers")
struct SharedTransactionTests {
    private let secret = SymmetricKey.random()

    private func makeRegistry(secret: SymmetricKey? = nil, database: String = "") -> TransactionRegistry {
        TransactionRegistry(issuer: TransactionIDIssuer(secret: secret ?? self.secret), database: database)
    }

    private func code(_ body: () throws -> Void) -> StatusCode? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StatusError)?.code
        }
    }

    @Test
    func `A read-only transaction goes on elsewhere, for its owner and in its database only`() throws {
        let time = try Timestamp(microseconds: 1_234_567_890_123_456)
        let id = try makeRegistry().begin(.readOnly(at: time), for: .key("a"))
        guard case .readOnly(time) = try makeRegistry().state(of: id, for: .key("a")).mode else {
            Issue.record("another mode or time")
            return
        }
        #expect(code { _ = try makeRegistry().state(of: id, for: .key("b")) } == .invalidArgument)
        #expect(code { _ = try makeRegistry(database: "p/d").state(of: id, for: .key("a")) } == .invalidArgument)
        #expect(code { _ = try makeRegistry(secret: .random()).state(of: id, for: .key("a")) } == .invalidArgument)
        #expect(
            code { _ = try makeRegistry().state(of: TransactionID(String(id.key.string.dropLast())), for: .key("a")) }
                == .invalidArgument
        )
    }

    @Test
    func `A read-write transaction is aborted elsewhere, and one that has ended is not valid where it was begun`() throws {
        let registry = makeRegistry()
        let id = try registry.begin(.readWrite)
        #expect(code { _ = try registry.state(of: id) } == nil)
        #expect(code { _ = try makeRegistry().state(of: id) } == .aborted)
        registry.rollback(id)
        #expect(code { _ = try registry.state(of: id) } == .invalidArgument)
    }
}
