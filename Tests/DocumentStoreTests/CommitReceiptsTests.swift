import DocumentModel
import DocumentStore
import StrictJSON
import Testing

@Suite("Receipts of commits in memory")
struct CommitReceiptsTests {
    private static let start: Int64 = 1_704_164_645_000_000
    private static let day: Int64 = 24 * 3_600 * 1_000_000

    private static func time(_ days: Int64) throws -> Timestamp {
        try Timestamp(microseconds: start + days * day)
    }

    private static func record(
        _ number: UInt64,
        of client: CommitClientID,
        at time: Timestamp,
        in receipts: inout CommitReceipts
    ) {
        let identity = CommitIdentity(client: client, number: number, after: number - 1, fingerprint: 1)
        let receipt = CommitReceipt(identity, writeResults: [])
        receipts.record(Commit(sequence: SequenceNumber(number), time: time, changes: [], receipt: receipt))
    }

    @Test func `Clients are forgotten 90 days after their last commit, short-lived ones after a day`() throws {
        let (first, several, shortLived) = (CommitClientID.random(), CommitClientID.random(), CommitClientID.random().shortLived)
        var receipts = CommitReceipts()
        Self.record(1, of: first, at: try Self.time(0), in: &receipts)
        for (number, day) in [(1, 0), (2, 1)] as [(UInt64, Int64)] {
            Self.record(number, of: several, at: try Self.time(day), in: &receipts)
            Self.record(number, of: shortLived, at: try Self.time(day), in: &receipts)
        }
        receipts.removeExpired(at: try Self.time(2))
        #expect(receipts.clients.count == 3)
        receipts.removeExpired(at: try Self.time(3))
        #expect(receipts[shortLived] == nil)
        receipts.removeExpired(at: try Self.time(90))
        // Its first commit may be sent again after a long time without a network.
        #expect(receipts[first] != nil)
        receipts.removeExpired(at: try Self.time(91))
        #expect(receipts[first] == nil && receipts[several] != nil)
        receipts.removeExpired(at: try Self.time(92))
        #expect(receipts.isEmpty)
    }

    @Test func `Any number of commands displaces no client that may be away for long`() throws {
        var receipts = CommitReceipts(maximumClientCount: 100)
        let clients = (0..<50).map { _ in CommitClientID.random() }
        for client in clients { Self.record(1, of: client, at: try Self.time(0), in: &receipts) }
        for number in 0..<1_000 as Range<Int64> {
            let command = CommitClientID.random().shortLived
            Self.record(1, of: command, at: try Self.time(number / 12), in: &receipts)
            #expect(receipts[command] != nil)
        }
        #expect(clients.allSatisfy { receipts[$0] != nil } && receipts.clients.count <= 100)
    }

    @Test func `The digest of a short-lived client's ID is that of a short-lived client`() throws {
        let id = CommitClientID.random().shortLived
        #expect(id.isShortLived && id.text.utf8.starts(with: "AAAAAAAA".utf8))
        #expect(CommitClientID(bytes: id.bytes)?.isShortLived == true)
        #expect(id.shortLived == id && !CommitClientID.random().isShortLived)
    }

    @Test func `The number of clients is bounded; those without a recent commit are forgotten first`() throws {
        var receipts = CommitReceipts(maximumClientCount: 100)
        let clients = (0..<101).map { _ in CommitClientID.random() }
        for (index, client) in clients.enumerated() {
            Self.record(1, of: client, at: try Self.time(Int64(index)), in: &receipts)
        }
        #expect(receipts.clients.count <= 91)
        #expect(receipts[clients[0]] == nil)
        #expect(receipts[clients[100]] != nil && receipts[clients[50]] != nil)
    }

    @Test func `Clients whose commits were all refused are forgotten first, at most a tenth at a time`() throws {
        var receipts = CommitReceipts(maximumClientCount: 100)
        let committed = (0..<60).map { _ in CommitClientID.random() }
        for client in committed { Self.record(1, of: client, at: try Self.time(0), in: &receipts) }
        for _ in 0..<1_000 {
            let client = CommitClientID.random()
            var refused = ClientReceipts()
            refused.record(
                CommitIdentity(client: client, number: 1, after: 0, fingerprint: 1),
                refusedWith: StatusError(.notFound, "x"),
                at: try Self.time(1)
            )
            receipts.update(client, refused)
            #expect((60...100).contains(receipts.clients.count))
        }
        #expect(committed.allSatisfy { receipts[$0] != nil })
    }

    @Test func `The memory of receipts is bounded, by client and in total`() throws {
        var receipts = CommitReceipts(maximumBytes: 100_000)
        let results = [WriteResult(updateTime: nil, transformResults: [.string(String(repeating: "x", count: 3_000))])]
        for day in 0..<100 as Range<Int64> {
            let client = CommitClientID.random()
            for number in 1...5 as ClosedRange<UInt64> {
                let identity = CommitIdentity(client: client, number: number, after: 0, fingerprint: 1)
                let receipt = CommitReceipt(identity, keeping: results)
                #expect(receipt.writeResults != nil)
                receipts.record(
                    Commit(sequence: SequenceNumber(number), time: try Self.time(day), changes: [], receipt: receipt)
                )
            }
            let known = try #require(receipts[client])
            #expect(known.byteCount < 6_000)
            #expect(try known.answers.map { try $0.outcome.get().hasDroppedResults } == [true, true, true, true, false])
        }
        #expect((20...30).contains(receipts.clients.count), "\(receipts.clients.count)")
    }

    @Test func `Answers are kept until the client has them, at most 16`() throws {
        var client = ClientReceipts()
        for number in 1...20 as ClosedRange<UInt64> {
            let identity = CommitIdentity(client: .random(), number: number, after: 0, fingerprint: number)
            let receipt = CommitReceipt(identity, writeResults: [])
            client.record(Commit(sequence: SequenceNumber(number), time: try Self.time(0), changes: [], receipt: receipt))
        }
        #expect(client.answers.map(\.number) == Array(5...20))
        client.record(
            CommitIdentity(client: .random(), number: 21, after: 18, fingerprint: 21),
            refusedWith: StatusError(.notFound, "x"),
            at: try Self.time(0)
        )
        #expect(client.answers.map(\.number) == [19, 20, 21])
        #expect(client.last == 21)
        #expect(client.lastCommitted == 20)
    }

    @Test func `Refusals survive a round trip where they are included`() throws {
        let id = CommitClientID.random()
        var client = ClientReceipts()
        var error = StatusError(.notFound, "There is no such document.", path: "c/d", field: "a.b")
        error.writeIndex = 3
        client.record(
            CommitIdentity(client: id, number: 1, after: 0, fingerprint: 7),
            refusedWith: error.decided,
            at: try Self.time(0)
        )
        #expect(try ClientReceipts.client(JSONText(client.encoded(of: id)).root) == nil)
        let known = try #require(
            try ClientReceipts.client(JSONText(client.encoded(of: id, includingRefusals: true)).root)?.1
        )
        #expect(known.last == 1 && known.lastCommitted == 0 && known.lastUse == client.lastUse)
        let again = CommitIdentity(client: id, number: 1, after: 0, fingerprint: 7)
        guard case .answer(.failure(let refusal)) = known.decision(on: again) else {
            Issue.record("the commit is not refused")
            return
        }
        #expect(refusal.description == error.description && refusal.isDecided)
    }

    @Test(arguments: [[], [nil], [0, 17], [nil, -62_135_596_800_000_000]] as [[Int64?]])
    func `Results survive a round trip`(times: [Int64?]) throws {
        let results = try times.map { time in
            WriteResult(
                updateTime: try time.map { try Timestamp(microseconds: $0) },
                transformResults: time == nil ? [] : [.null, .double(.nan), .string("\u{0}"), .array([.integer(.min)])]
            )
        }
        let json = try JSONText(CommitReceipt.encoded(results)).root
        #expect(CommitReceipt.results(json) == results)
    }

    @Test(arguments: ["{}", "[{}]", "[[]]", #"[["x"]]"#, "[[1.5]]", "[[9223372036854775807]]", #"[[0,{"$timestamp":1}]]"#])
    func `Results that are not valid are not taken`(json: String) throws {
        #expect(CommitReceipt.results(try JSONText(Array(json.utf8)).root) == nil)
    }

    @Test(arguments: ["", "AAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAB", "AAAAAAAAAAAAAAAAAAAAA="])
    func `Text that is not the ID of a client is not taken for one`(text: String) {
        #expect(CommitClientID(text) == nil)
    }

    @Test func `The ID of a client survives a round trip`() throws {
        for _ in 1...100 {
            let id = CommitClientID.random()
            #expect(id.text.utf8.count == 22)
            #expect(CommitClientID(id.text) == id)
            #expect(CommitClientID(bytes: id.bytes) == id)
        }
        #expect(CommitClientID(bytes: 1...16)?.bytes == Array(1...16))
    }
}
