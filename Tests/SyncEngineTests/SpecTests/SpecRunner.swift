import DocumentModel
import FirestoreBundles
import StrictJSON
import SyncEngine
import Testing
import UTF8Text

/// Replays a spec test: each step is an input of the engine, followed by checks of its effects and state.
struct SpecRunner<Cache: LocalCache> {
    private let test: SpecTest
    private var engine: SyncEngine<Cache>
    private var stream = SpecWatchStream()
    private var isNetworkEnabled = true
    /// True while the client pauses after a failed attempt, before the streams that it has asked for are opened.
    private var isPausing = false
    private var lastSnapshotTime: Timestamp?

    private var listeners: [ListenerID: SpecListener] = [:]
    private var listenersByQuery: [ViewQuery: ListenerID] = [:]
    private var lastID: UInt64 = 0
    private var limboIDs: [DocumentPath: Int] = [:]
    private var lastLimboID = -1
    private var openedTokens: [Int: String] = [:]
    private var sent: [MutationBatch] = []
    private var writePaths: [WriteID: String] = [:]
    private var snapshotsInSyncListeners: [ListenerID] = []

    private var events: [SpecEvent] = []
    private var acknowledged: [String] = []
    private var rejected: [String] = []
    private var snapshotsInSyncCount = 0
    private var endedWaits = 0

    private var expected = SpecExpectedState()
    private let reopen: (Cache) throws -> Cache

    /// - Parameter reopen: Returns the cache of a process that starts, by that of the previous one.
    init(_ test: SpecTest, cache: Cache, reopening reopen: @escaping (Cache) throws -> Cache = { $0 }) {
        self.test = test
        self.reopen = reopen
        engine = Self.makeEngine(cache, test)
    }

    private static func makeEngine(_ cache: Cache, _ test: SpecTest, user: UserID = UserID(nil)) -> SyncEngine<Cache> {
        var settings = SyncEngine<Cache>.Settings()
        settings.maximumLimboReads = test.maximumLimboReads ?? .max
        return SyncEngine(cache: cache, user: user, settings: settings)
    }

    mutating func run() throws {
        carryOut(try engine.start())
        for (index, step) in test.steps.enumerated() {
            for (key, value) in try #require(step.members) where !key.string.hasPrefix("expected") {
                try perform(key.string, value)
            }
            let description = "step \(index + 1): \(String(decoding: step.rawBytes.prefix(300), as: UTF8.self))"
            try check(step, description)
        }
    }
}

// MARK: Steps

extension SpecRunner {
    private mutating func perform(_ step: String, _ value: JSONNode) throws {
        switch step {
        case "userListen": try listen(value)
        case "userUnlisten": try unlisten(value)
        case "userSet", "userPatch", "userDelete": try write(step, value)
        case "watchAck":
            stream.acknowledge(ids(value))
            answer()
        case "watchCurrent":
            let parts = Array(try #require(value.elements))
            stream.markCurrent(ids(parts[0]), token: try #require(parts[1].string))
            answer()
        case "watchRemove": try watchRemove(value)
        case "watchReset":
            stream.reset(ids(value), keys: keys)
            answer()
        case "watchEntity": try watchEntity(value)
        case "watchSnapshot": try watchSnapshot(value)
        case "watchStreamClose":
            stream.restart()
            carryOut(engine.streamClosed())
            isPausing = value["runBackoffTimer"]?.boolean == false
        case "writeAck": try acknowledgeWrite(value)
        case "failWrite": try failWrite(value)
        case "runTimer": if value.string == "online_state_timeout" { carryOut(engine.onlineStateTimerFired()) }
        case "enableNetwork": try setNetwork(enabled: value.boolean == true)
        case "changeUser": try changeUser(UserID(value.string))
        case "restart": try restart()
        case "waitForPendingWrites": carryOut(try engine.waitForPendingWrites(nextID()))
        case "addSnapshotsInSyncListener":
            snapshotsInSyncListeners.append(nextID())
            carryOut(engine.addSnapshotsInSyncListener(lastID))
        case "removeSnapshotsInSyncListener":
            engine.removeSnapshotsInSyncListener(snapshotsInSyncListeners.removeLast())
        case "triggerLruGC":
            let size = Int(try #require(value.integer))
            _ = try engine.evict(EvictionPolicy(minimumByteCount: size, fraction: 1))
        case "loadBundle": try loadBundle(try #require(value.string))
        case "drainQueue", "clientIndex": break
        default: throw SpecError.unknownStep(step)
        }
    }

    private mutating func listen(_ value: JSONNode) throws {
        let query = try ViewQuery(spec: try #require(value["query"]))
        let options = value["options"]
        let listener = nextID()
        listeners[listener] = SpecListener(query: query)
        listenersByQuery[query] = listener
        let effects = try engine.listen(
            listener,
            to: query,
            options: ListenOptions(
                includesMetadataChanges: options?["includeMetadataChanges"]?.boolean ?? true,
                waitsForSync: options?["waitForSyncWhenOnline"]?.boolean == true && !test.isForWeb,
                isCacheOnly: options?["source"]?.string == "cache"
            )
        )
        #expect(engine.target(of: listener).map { Int64($0) * 2 } == value["targetId"]?.integer)
        carryOut(effects)
    }

    private mutating func unlisten(_ value: JSONNode) throws {
        let parts = Array(try #require(value.elements))
        let listener = try #require(listenersByQuery.removeValue(forKey: try ViewQuery(spec: parts[1])))
        carryOut(engine.unlisten(listener))
    }

    private mutating func write(_ step: String, _ value: JSONNode) throws {
        let parts = value.elements.map(Array.init) ?? []
        let path = try DocumentPath(try #require(value.string ?? parts.first?.string))
        let write: Write
        switch step {
        case "userSet":
            write = try .set(path, try MapValue(json: parts[1]))
        case "userPatch":
            let fields = try MapValue(json: parts[1]).map { (try FieldPath(segments: [$0.key]), $0.value) }
            let deleted = fields.filter { $0.1 == .string("<DELETE>") }.map(\.0)
            write = try .update(path, fields.filter { !deleted.contains($0.0) }, delete: deleted)
        default:
            write = .delete(path)
        }
        let id = nextID()
        writePaths[id] = path.string
        carryOut(try engine.write([write], id, at: try Timestamp(microseconds: 0)))
    }

    private mutating func watchRemove(_ value: JSONNode) throws {
        let ids = ids(try #require(value["targetIds"]))
        answer()
        guard let code = value["cause"]?["code"]?.integer else {
            stream.remove(ids)
            return
        }
        let error = StatusError(try #require(StatusCode(rawValue: Int(code))), "The target is rejected.")
        for id in ids {
            let target = stream.targets[id]
            stream.reject(id)
            if id % 2 == 0 {
                openedTokens[id] = nil
                carryOut(engine.targetRejected(TargetID(id / 2), error))
            } else if case .document(let path)? = target {
                limboIDs[path] = nil
                carryOut(try engine.apply(RemoteEvent(answeredReads: [path], inaccessible: [path])))
            }
        }
    }

    private mutating func watchEntity(_ value: JSONNode) throws {
        let added = value["targets"].map(ids) ?? []
        let removed = value["removedTargets"].map(ids) ?? []
        let documents = value["docs"]?.elements.map(Array.init) ?? [value["doc"]].compactMap { $0 }
        for node in documents {
            let document = try RemoteDocument(spec: node)
            stream.add(document, to: added, keys: keys)
            for id in removed { stream.remove(document.path, document, from: id, keys) }
        }
        if let path = try value["key"]?.string.map({ try DocumentPath($0) }) {
            for id in removed { stream.remove(path, nil, from: id, keys) }
        }
        answer()
    }

    private mutating func watchSnapshot(_ value: JSONNode) throws {
        let ids = value["targetIds"].map(ids) ?? []
        answer()
        stream.setToken(value["resumeToken"]?.string ?? "", ofTargets: ids)
        let time = try Timestamp(microseconds: try #require(value["version"]?.integer))
        guard ids.isEmpty, lastSnapshotTime.map({ $0 <= time }) ?? true else { return }
        lastSnapshotTime = time
        carryOut(try engine.apply(stream.event(at: time, keys: keys)))
    }

    private mutating func acknowledgeWrite(_ value: JSONNode) throws {
        let time = try Timestamp(microseconds: try #require(value["version"]?.integer))
        let batch = sent.removeFirst()
        let results = batch.writes.map { _ in WriteResult(updateTime: time) }
        carryOut(try engine.batchAcknowledged(batch.number, BatchResult(commitTime: time, results: results)))
    }

    private mutating func failWrite(_ value: JSONNode) throws {
        let number = try #require(value["error"]?["code"]?.integer)
        let code = try #require(StatusCode(rawValue: Int(number)))
        let error = StatusError(code, "The write is rejected.")
        if value["keepInQueue"]?.boolean == true {
            #expect(!error.rejectsBatch)
            sent = []
            carryOut(try engine.resendBatches())
        } else {
            #expect(error.rejectsBatch || code == .dataLoss)
            carryOut(try engine.batchRejected(sent.removeFirst().number, error))
        }
    }

    private mutating func loadBundle(_ text: String) throws {
        var reader = BundleReader()
        reader.append(Array(text.utf8))
        while try reader.readElement() {}
        let bundle = try reader.finish()
        guard try !engine.hasLoaded(bundle.metadata) else { return }
        carryOut(try engine.load(bundle))
    }

    private mutating func setNetwork(enabled: Bool) throws {
        isNetworkEnabled = enabled
        stream.restart()
        carryOut(enabled ? try engine.enableNetwork() : engine.disableNetwork())
    }

    private mutating func changeUser(_ user: UserID) throws {
        stream.restart()
        isPausing = false
        carryOut(try engine.changeUser(to: user))
    }

    /// Restarts the client without an orderly end, at which the SDKs save no tokens.
    private mutating func restart() throws {
        let (cache, user) = (try reopen(engine.cache), engine.user)
        stream = SpecWatchStream()
        listeners = [:]
        listenersByQuery = [:]
        limboIDs = [:]
        lastLimboID = -1
        openedTokens = [:]
        sent = []
        engine = Self.makeEngine(cache, test, user: user)
        carryOut(try engine.start())
    }

    private mutating func answer() {
        carryOut(engine.streamAnswered())
    }

    private mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    private func ids(_ node: JSONNode) -> [Int] {
        node.elements?.compactMap(\.integer).map { Int($0) } ?? []
    }

    /// The documents that the server counts to a target.
    private var keys: (Int) -> Set<DocumentPath> {
        let (engine, stream) = (engine, stream)
        return { $0 % 2 == 0 ? engine.keys(of: TargetID($0 / 2)) : stream.limboKeys(of: $0) }
    }
}

// MARK: Effects

extension SpecRunner {
    private mutating func carryOut(_ effects: [SyncEffect]) {
        for effect in effects {
            switch effect {
            case .raise(let id, let snapshot):
                guard var listener = listeners[id] else { continue }
                listener.replayed.replay(snapshot)
                listeners[id] = listener
                events.append(SpecEvent(query: listener.query, snapshot: snapshot, code: 0))
            case .fail(let id, let error):
                guard let listener = listeners.removeValue(forKey: id) else { continue }
                listenersByQuery[listener.query] = nil
                events.append(SpecEvent(query: listener.query, snapshot: nil, code: Int64(error.code.rawValue)))
            case .raiseSnapshotsInSync(let ids):
                snapshotsInSyncCount += ids.count
            case .openTarget(let request):
                openedTokens[Int(request.id) * 2] = request.token ?? request.time.map { "time \($0.microseconds)" } ?? ""
                if stream.targets[Int(request.id) * 2] == nil { stream.open(Int(request.id) * 2, request.target) }
            case .closeTarget(let id):
                openedTokens[Int(id) * 2] = nil
                stream.close(Int(id) * 2)
            case .readDocuments(let paths):
                for path in paths where limboIDs[path] == nil {
                    lastLimboID += 2
                    limboIDs[path] = lastLimboID
                    stream.open(lastLimboID, .document(path))
                }
            case .send(let batch, _):
                sent.append(batch)
            case .stopSending:
                sent = []
            case .complete(let id, let error, _):
                guard let path = writePaths.removeValue(forKey: id) else { continue }
                if error == nil { acknowledged.append(path) } else { rejected.append(path) }
            case .endWait:
                endedWaits += 1
            case .reportRejection, .startOnlineStateTimer, .stopOnlineStateTimer, .resendBatchesLater:
                break
            case .reportCacheError(let error):
                Issue.record(error)
            }
        }
        for (path, id) in limboIDs where !engine.limboDocuments.contains(path) {
            limboIDs[path] = nil
            stream.close(id)
        }
    }
}

// MARK: Checks

extension SpecRunner {
    private mutating func check(_ step: JSONNode, _ description: String) throws {
        try checkEvents(step["expectedSnapshotEvents"], description)
        let state = step["expectedState"]
        try expected.update(state)
        let callbacks = state?["userCallbacks"]
        #expect(acknowledged == callbacks?["acknowledgedDocs"]?.elements?.compactMap(\.string) ?? [], "\(description)")
        #expect(rejected == callbacks?["rejectedDocs"]?.elements?.compactMap(\.string) ?? [], "\(description)")
        #expect(snapshotsInSyncCount == step["expectedSnapshotsInSyncEvents"]?.integer ?? 0, "\(description)")
        #expect(endedWaits == step["expectedWaitForPendingWritesEvents"]?.integer ?? 0, "\(description)")
        if let count = state?["numOutstandingWrites"]?.integer { #expect(engine.batchesInFlight == count, "\(description)") }
        (acknowledged, rejected, snapshotsInSyncCount, endedWaits) = ([], [], 0, 0)
        #expect(engine.limboDocuments == expected.activeLimbo, "\(description)")
        #expect(engine.waitingLimboDocuments == expected.waitingLimbo, "\(description)")
        if isPausing {
            #expect(expected.targets.isEmpty, "\(description)")
        } else if isNetworkEnabled {
            var tokens = openedTokens
            var targets = stream.targets.filter { $0.key % 2 == 0 }
            for (path, id) in limboIDs {
                tokens[id] = ""
                targets[id] = .document(path)
            }
            #expect(tokens == expected.tokens, "\(description)")
            #expect(targets == expected.targets, "\(description)")
        }
    }

    private mutating func checkEvents(_ node: JSONNode?, _ description: String) throws {
        let expected = try node?.elements?.map { try SpecExpectedEvent($0) } ?? []
        #expect(events.count == expected.count, "\(description): \(events)")
        var actual = events
        events = []
        for expectation in expected {
            guard let index = actual.firstIndex(where: { $0.query == expectation.query }) else {
                Issue.record("Expected an event for \(expectation.query.target). \(description)")
                continue
            }
            expectation.check(actual.remove(at: index), description)
        }
    }
}
