import DocumentModel
import DocumentStore
import DocumentStoreConformance
import TestSupport
import Testing
import UTF8Text

@testable import PostgresStore

@Suite("Limits and identities of commits in an engine", EngineServer.condition)
struct CommitLimitTests {
    private static func document(elements count: Int) -> MapValue { ["a": .array((0..<count).map { .integer(Int64($0)) })] }

    @Test
    func `A commit with too many entries is refused, and those beside it are made`() async throws {
        var configuration = try await EngineServer.shared.value.makeConfiguration()
        configuration.maximumEntryCount = 100
        let host = try await PostgresHost.open(configuration, logger: .silent)
        let store = host.store
        let errors = await withTaskGroup(of: StatusError?.self) { group in
            for number in 0..<40 {
                group.addTask {
                    do throws(StatusError) {
                        let paths = number == 20 ? ["c/20", "c/bad"] : ["c/\(number)"]
                        _ = try await store.commit(
                            paths.map { path throws(StatusError) in
                                try .set(DocumentPath(path), Self.document(elements: 60))
                            }
                        )
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(errors.compactMap(\.self).map(\.code) == [.invalidArgument])
        #expect(errors.compactMap(\.self).first?.message.contains("more than 100 entries") == true)
        #expect(errors.compactMap(\.self).first?.path == "c/bad")
        #expect(try await store.size(of: nil).documentCount == 39)
        func set(_ paths: String..., elements count: Int) async throws {
            _ = try await store.commit(try paths.map { try .set(DocumentPath($0), Self.document(elements: count)) })
        }
        // A nested document has its entries in two scopes.
        let error = await #expect(throws: StatusError.self) { try await set("c/1/d/1", "c/1/d/2", elements: 25) }
        #expect(error?.code == .invalidArgument)
        try await set("c/1/d/1", "c/1/d/2", elements: 23)
        // A document alone can have more, and what stays the same does not count.
        try await set("c/large", elements: 500)
        let increments = try ["c/large", "c/1"].map { path in
            Write(
                path: try DocumentPath(path),
                operation: .patch(["n": .integer(1)], mask: [try FieldPath("n")])
            )
        }
        _ = try await store.commit(increments)
        await host.close()
    }

    @Test
    func `A commit that one server has refused is refused by every other one, also when it would succeed now`() async throws {
        try await EngineServer.shared.value.withHosts(2) { hosts in
            let stores = hosts.map(\.store)
            let (client, path) = (CommitClient(), try DocumentPath("c/d"))
            var write = try Write.set(path, ["n": .integer(1)])
            write.precondition = .exists(true)
            func failure(of number: UInt64, after: UInt64 = 0, on store: PostgresStore) async -> StatusError? {
                do throws(StatusError) {
                    _ = try await client.commit([write], in: store, number: number, after: after)
                    return nil
                } catch {
                    return error
                }
            }
            let refused = try #require(await failure(of: 1, on: stores[0]))
            #expect(refused.isDecided)
            _ = try await stores[1].commit([.set(path, ["n": .integer(0)])])
            for store in stores.reversed() {
                let again = try #require(await failure(of: 1, on: store))
                #expect(again.code == refused.code && again.message == refused.message && again.path == refused.path)
                #expect(again.writeIndex == refused.writeIndex && again.isDecided)
            }
            #expect(await failure(of: 2, after: 1, on: stores[1]) == nil)
            #expect(try await client.commit([write], in: stores[0], number: 2, after: 1).isReplayed)
            // The client has its answer to the first.
            #expect(await failure(of: 1, on: stores[0])?.identityMismatch == .forgotten(expected: 3))
            #expect(try await stores[0].safePosition().lastSequence == SequenceNumber(2))
        }
    }

    @Test
    func `Only characters between values count as such for the bound of the entries`() throws {
        let prose = #"One, two, [three], {four}, a \ and a "quote", five"#
        let document = EncodedDocument(
            Document(
                path: try DocumentPath("c/d"),
                fields: ["text": .string(prose), "list": .array([.integer(1), .string(prose), .null])],
                createTime: .minimum,
                updateTime: .minimum
            )
        )
        // The map, its second field, the array and two elements.
        #expect(document.valueBound == 5)
    }

    @Test
    func `A wait for the lock is told from a slow network`() async throws {
        let configuration = try await EngineServer.shared.value.makeConfiguration()
        let connection = try EngineConnection(configuration.address, timeout: .seconds(60))
        let connecting = .seconds(600) - connection.delay(ofRoundTrip: .seconds(600))
        #expect(connecting > .zero && connecting < .seconds(600))
        #expect(connection.delay(ofRoundTrip: connecting) == .zero)
        #expect(connection.delay(ofRoundTrip: connecting + .milliseconds(3)) == .milliseconds(3))
        #expect(connection.delay(ofRoundTrip: .nanoseconds(1)) == .zero)
        #expect(connection.delay(ofRoundTrip: .nanoseconds(5)) == .nanoseconds(4))
    }
}
