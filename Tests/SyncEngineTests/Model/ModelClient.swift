import DocumentModel
import SyncEngine
import TestSupport
import Testing
import UTF8Text

/// A client of the random model: an engine, its listeners, and a connection that breaks.
struct ModelClient<Cache: LocalCache> {
    let number: Int
    private(set) var client: TestClient<Cache>
    private(set) var isEnabled = true
    private var listeners: [ListenerID: Listener] = [:]
    private let reopen: (Cache) throws -> Cache

    private struct Listener {
        let query: ModelQuery
        var replayed = ReplayedListener()
        /// The last number that the listener has shown at the counter.
        var counter: Int64 = 0
    }

    /// The numbers of the batches that increment the counter, by user.
    private var incrementNumbers: [String: Set<BatchNumber>] = [:]
    /// False after the server was restored, when the counter may go back.
    private var checksCounter = true

    /// - Parameters:
    ///   - maximumRefillCount: The number of documents that are read at once to refill a view.
    ///   - reopen: Returns the cache of a process that starts, by that of the previous one.
    init(
        number: Int,
        cache: Cache,
        maximumRefillCount: Int = .max,
        reopening reopen: @escaping (Cache) throws -> Cache = { $0 }
    ) {
        self.number = number
        self.reopen = reopen
        var settings = SyncEngine<Cache>.Settings()
        settings.maximumRefillCount = maximumRefillCount
        client = TestClient(cache: cache, settings)
    }

    /// True if views need a refill.
    var needsRefills: Bool { client.engine.needsRefills }

    /// Makes a step of the refill of a view.
    mutating func continueRefills() {
        client.perform { $0.continueRefills() }
        checkEvents()
    }

    // MARK: Listeners

    mutating func listen(to query: ModelQuery) throws {
        let id = try client.listen(to: query.view, includesMetadataChanges: true)
        listeners[id] = Listener(query: query)
        checkEvents()
    }

    mutating func unlisten(_ random: inout SeededGenerator) {
        guard let id = listeners.keys.sorted().randomElement(using: &random), listeners.count > 1 else { return }
        listeners[id] = nil
        client.perform { $0.unlisten(id) }
        checkEvents()
    }

    mutating func restart() throws {
        let queries = listeners.sorted { $0.key < $1.key }.map(\.value.query)
        listeners = [:]
        if !isEnabled { isEnabled = true }
        try client.restart(reopening: reopen)
        for query in queries { try listen(to: query) }
    }

    /// Makes the other of two users the current one, or a certain one.
    mutating func changeUser(to user: UserID? = nil) throws {
        let other = client.engine.user.string == nil ? "x" : nil
        let user = user ?? UserID(other)
        try client.perform { try $0.changeUser(to: user) }
        // The increments of the other user are no longer on show.
        for id in listeners.keys { listeners[id]?.counter = 0 }
        checkEvents(countsBack: true)
    }

    // MARK: Writes

    mutating func write(_ writes: [Write], at time: Timestamp) throws {
        let id = client.nextID()
        try client.perform { try $0.write(writes, id, at: time) }
        if writes.contains(where: { $0.path == RandomModel.counterPath }) {
            incrementNumbers[serverName, default: []].insert(try client.engine.queueState().lastNumber)
        }
        checkEvents()
    }

    /// The name by which the server knows the commits of the current user.
    private var serverName: String { name(of: client.engine.user) }

    private func name(of user: UserID) -> String { "\(number) \(user.string ?? "")" }

    /// Returns the number of increments that were lost for good since the server was restored: of those that it had, the client does not send
    /// again what it has the answer to.
    ///
    /// - Parameter lost: The numbers of the commits that the server has lost, by client.
    mutating func lostIncrements(_ lost: [String: [BatchNumber]]) throws -> Int64 {
        checksCounter = false
        var count = 0
        for user in [UserID(nil), UserID("x")] {
            var cache = client.engine.cache
            let decided = try cache.queueState(for: user).decidedNumber
            let numbers = incrementNumbers[name(of: user)] ?? []
            count += (lost[name(of: user)] ?? []).count { $0 <= decided && numbers.contains($0) }
        }
        return Int64(count)
    }

    /// Sends the first batch.
    ///
    /// - Parameter isAnswerLost: True if the connection breaks before the answer.
    mutating func send(to server: inout SerialServer, isAnswerLost: Bool, _ random: inout SeededGenerator) throws {
        guard let (batch, _) = client.sent.first else { return }
        let isForbidden = !batch.paths.contains(RandomModel.counterPath) && random.chance(10)
        let answer = try server.commit(
            batch,
            by: serverName,
            isForbidden: isForbidden,
            returnsDocuments: random.chance(50)
        )
        if isAnswerLost {
            _ = client.takeSent()
            try client.perform { try $0.resendBatches() }
        } else {
            client.removeFirstSent()
            switch answer {
            case .acknowledged(let result):
                let epoch = server.epoch
                try client.perform { try $0.batchAcknowledged(batch.number, result, epoch: epoch) }
            case .rejected(let error): try client.perform { try $0.batchRejected(batch.number, error) }
            }
        }
        checkEvents()
    }

    // MARK: Streams

    /// Delivers what a stream has to tell.
    mutating func deliver(from server: SerialServer, _ random: inout SeededGenerator) throws {
        guard isEnabled, let id = client.requests.keys.sorted().randomElement(using: &random) else { return }
        try deliver(id, from: server)
    }

    private mutating func deliver(_ id: TargetID, from server: SerialServer) throws {
        guard let request = client.requests[id], let position = client.positions[id] else { return }
        let event = try server.event(for: id, request.target, after: position)
        try client.perform { try $0.apply(event) }
        client.positions[id] = event.targets[id]?.token
        checkEvents()
    }

    /// Answers the reads of documents in limbo.
    mutating func answerReads(from server: SerialServer) throws {
        let paths = client.takeLimboReads()
        guard isEnabled, !paths.isEmpty else { return }
        let event = try server.read(paths)
        try client.perform { try $0.apply(event) }
        checkEvents()
    }

    /// Resets a stream, as a server does that no longer has the history after a token.
    mutating func reset(_ random: inout SeededGenerator) throws {
        guard isEnabled, let id = client.requests.keys.sorted().randomElement(using: &random) else { return }
        let event = RemoteEvent(targets: [id: RemoteEvent.TargetChange(isCurrent: false, isReset: true)])
        try client.perform { try $0.apply(event) }
        client.positions[id] = ""
        checkEvents()
    }

    mutating func breakStreams() {
        client.perform { $0.streamClosed() }
        checkEvents()
    }

    mutating func fireTimer() {
        client.perform { $0.onlineStateTimerFired() }
        checkEvents()
    }

    mutating func setNetwork(enabled: Bool) throws {
        isEnabled = enabled
        try client.perform { enabled ? try $0.enableNetwork() : $0.disableNetwork() }
        checkEvents()
    }

    mutating func evict() throws {
        _ = try client.engine.evict(EvictionPolicy(minimumByteCount: 0, fraction: 1))
    }

    /// Brings the client up to date.
    mutating func settle(with server: inout SerialServer, _ random: inout SeededGenerator) throws {
        while !client.sent.isEmpty { try send(to: &server, isAnswerLost: false, &random) }
        for id in client.requests.keys.sorted() { try deliver(id, from: server) }
        try answerReads(from: server)
        while needsRefills { continueRefills() }
    }

    // MARK: Checks

    private mutating func checkEvents(countsBack: Bool = false) {
        for (id, events) in client.takeEvents() {
            guard var listener = listeners[id] else {
                Issue.record("An event for a listener that has left.")
                continue
            }
            for event in events {
                listener.replayed.replay(event)
                if !countsBack, checksCounter { checkCounter(of: &listener, in: event) }
            }
            listeners[id] = listener
        }
        #expect(client.cacheErrors.isEmpty)
    }

    /// Expects that the counter, which is only ever incremented, never goes back while it is shown. Once it has left a limited view, the cache
    /// may forget it, and the next increment begins at zero until the server has answered.
    private func checkCounter(of listener: inout Listener, in event: ViewSnapshot) {
        guard let document = event.documents.first(where: { $0.path == RandomModel.counterPath }),
            case .integer(let value)? = document.fields["n"]
        else {
            listener.counter = 0
            return
        }
        #expect(value >= listener.counter, "The counter went back in client \(number).")
        listener.counter = value
    }

    /// Expects that the listeners show what the server has.
    func checkConvergence(with server: SerialServer) throws {
        for listener in listeners.values {
            let snapshot = try #require(listener.replayed.snapshot)
            let expected = try listener.query.result(on: server)
            #expect(snapshot.documents.map(\.path) == expected.map(\.path))
            #expect(snapshot.documents.map(\.fields) == expected.map(\.fields))
            #expect(snapshot.documents.allSatisfy { $0.pendingTimestamps.isEmpty })
            #expect(!snapshot.isFromCache)
            #expect(!snapshot.hasPendingWrites)
        }
        #expect(client.engine.limboDocuments.isEmpty)
        #expect(client.engine.batchesInFlight == 0)
    }
}
