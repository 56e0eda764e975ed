import Concurrency
import DocumentModel
import DocumentStore
import DocumentStoreConformance
import SecurityRules
import Synchronization
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("Rules decide about streams", .timeLimit(.minutes(10))) struct RulesStreamTests {
    private static let rooms = """
            match /notes/{id} { allow read: if request.auth.uid == resource.data.owner; }
            match /rooms/{room} {
              match /messages/{id} {
                allow read: if request.auth.uid in get(/databases/$(database)/documents/rooms/$(room)).data.members;
              }
            }
        """

    private func withRooms(_ body: (RulesFixture) async throws -> Void) async throws {
        let fixture = try RulesFixture(Self.rooms)
        try await fixture.set("notes/a", #"{"owner": "alice", "n": 1}"#)
        try await fixture.set("notes/b", #"{"owner": "bob", "n": 1}"#)
        try await fixture.set("rooms/r", #"{"members": ["alice"]}"#)
        try await fixture.set("rooms/r/messages/m", #"{"text": "hello"}"#)
        try await body(fixture)
    }

    // MARK: - Listeners

    private func query(_ collection: String, owner: String? = nil) throws -> PreparedWatchQuery {
        let filter = try owner.map { owner in
            QueryFilter.field(try FieldPath("owner"), .equal(.string(owner)))
        }
        return try PreparedWatchQuery(
            listener: NormalizedQuery(StructuredQuery(.collection(try CollectionPath(collection)), where: filter)),
            text: (collection + (owner ?? "")).utf8
        )
    }

    private func document(_ path: String) throws -> ListenTarget.Source {
        .documents([try DocumentPath(path)])
    }

    /// Listens until the target is current; returns the error with which it ends before.
    private func listen(
        _ id: Int32,
        to source: ListenTarget.Source,
        in session: ListenSession
    ) async throws -> StatusError? {
        for case .removed(_, let cause) in try session.add(ListenTarget(id: id, source)) { return cause }
        while true {
            for message in try await session.next(orUntil: { _ in }) {
                switch message {
                case .current(id, _): return nil
                case .removed(id, let cause): return cause
                default: break
                }
            }
        }
    }

    /// Returns the messages up to the next snapshot.
    private func nextMessages(of session: ListenSession) async throws -> [ListenMessage] {
        var messages: [ListenMessage] = []
        while true {
            messages += try await session.next(orUntil: { _ in })
            if case .snapshot? = messages.last { return messages }
        }
    }

    @Test func `A listener is decided when it starts`() async throws {
        try await withRooms { fixture in
            let session = ListenSession(in: try fixture.context(of: "alice"))
            #expect(try await listen(1, to: document("notes/a"), in: session) == nil)
            #expect(try await listen(2, to: document("notes/b"), in: session)?.code == .permissionDenied)
            #expect(try await listen(3, to: document("notes/missing"), in: session)?.code == .permissionDenied)
            #expect(try await listen(4, to: .query(query("notes", owner: "alice")), in: session) == nil)
            #expect(try await listen(5, to: .query(query("notes", owner: "bob")), in: session)?.code == .permissionDenied)
            #expect(try await listen(6, to: .query(query("notes")), in: session)?.code == .permissionDenied)
            #expect(try await listen(7, to: .query(query("rooms/r/messages")), in: session) == nil)
        }
    }

    @Test func `A change that ends the access to a document ends its listener without the new content`() async throws {
        try await withRooms { fixture in
            let session = ListenSession(in: try fixture.context(of: "alice"))
            #expect(try await listen(1, to: document("notes/a"), in: session) == nil)
            try await fixture.set("notes/a", #"{"owner": "alice", "n": 2}"#)
            #expect(try await nextMessages(of: session).contains { if case .changed = $0 { true } else { false } })
            try await fixture.set("notes/a", #"{"owner": "bob", "n": 3}"#)
            let messages = try await nextMessages(of: session)
            #expect(messages.count == 2)
            guard case .removed(1, let cause?) = messages.first else { return #expect(Bool(false), "\(messages)") }
            #expect(cause.code == .permissionDenied)
        }
    }

    @Test func `A document that leaves a query is withdrawn without its new content`() async throws {
        try await withRooms { fixture in
            let session = ListenSession(in: try fixture.context(of: "alice"))
            #expect(try await listen(1, to: .query(query("notes", owner: "alice")), in: session) == nil)
            try await fixture.set("notes/a", #"{"owner": "bob", "n": 3}"#)
            let messages = try await nextMessages(of: session)
            guard case .withdrawn(let path, [1], _) = messages.first else { return #expect(Bool(false), "\(messages)") }
            #expect(path.string == "notes/a")
        }
    }

    @Test func `A commit that may end the access of a listener is left to its task`() async throws {
        try await withRooms { fixture in
            let session = ListenSession(in: try fixture.context(of: "alice"))
            #expect(try await listen(1, to: .query(query("rooms/r/messages")), in: session) == nil)
            #expect(try await listen(2, to: document("notes/a"), in: session) == nil)
            try await fixture.set("rooms/r/messages/m1", #"{"text": "open"}"#)
            let reader = LiveListenReader(session, Waiter())
            #expect(reader.next()?.count == 2)
            let sequence = session.position.lastSequence
            for (path, fields) in [("rooms/r", #"{"members": ["bob"]}"#), ("notes/a", #"{"owner": "bob"}"#)] {
                try await fixture.set(path, fields)
                #expect(reader.next() == nil)
                #expect(session.position.lastSequence == sequence)
            }
            let ended = try await nextMessages(of: session) + (try await nextMessages(of: session))
            #expect(ended.count { if case .removed(_, _?) = $0 { true } else { false } } == 2)
        }
    }

    /// Returns whether a listener advances past a commit as another one of the same target has.
    private func advances(
        _ follower: String,
        as leader: String?,
        listeningTo source: ListenTarget.Source,
        pastCommitTo path: String,
        in fixture: RulesFixture
    ) async throws -> Bool {
        let first = ListenSession(in: try leader.map(fixture.context) ?? fixture.context)
        let second = ListenSession(in: try fixture.context(of: follower))
        for session in [first, second] { #expect(try await listen(1, to: source, in: session) == nil) }
        let reader = LiveListenReader(first, Waiter())
        let start = reader.position
        try await fixture.set(path, #"{"n": 1}"#)
        let messages = reader.next()
        #expect(reader.sequence > start.sequence)
        return LiveListenReader(second, Waiter()).advance(from: start, to: reader.position, sends: messages != nil)
    }

    @Test func `A listener advances as that of another end user has, unless its access depends on more than the rules`()
        async throws
    {
        let rules = """
            match /open/{id} { allow read: if request.auth != null; }
            match /timed/{id} { allow read: if request.time < timestamp.date(9999, 1, 1); }
            """
        let fixture = try RulesFixture(Self.rooms + rules)
        try await fixture.set("rooms/r", #"{"members": ["alice", "bob"]}"#)
        let open = ListenTarget.Source.query(try query("open"))
        #expect(try await advances("bob", as: "alice", listeningTo: open, pastCommitTo: "open/a", in: fixture))
        // An administrator sees documents that have left the target.
        #expect(try await !advances("bob", as: nil, listeningTo: open, pastCommitTo: "open/b", in: fixture))
        let room = ListenTarget.Source.query(try query("rooms/r/messages"))
        #expect(try await !advances("bob", as: "alice", listeningTo: room, pastCommitTo: "rooms/r/messages/a", in: fixture))
        let timed = ListenTarget.Source.query(try query("timed"))
        #expect(try await !advances("bob", as: "alice", listeningTo: timed, pastCommitTo: "timed/a", in: fixture))
        // A commit to the document is left to the task.
        #expect(try await !advances("bob", as: "alice", listeningTo: document("open/a"), pastCommitTo: "open/c", in: fixture))
    }

    @Test(arguments: [false, true])
    func `A commit that is read while the rules change is decided by the new ones`(listens: Bool) async throws {
        let armed = Mutex<RulesFixture?>(nil)
        let store = MemoryStore(beforeLogRead: {
            let fixture = armed.withLock { fixture in
                defer { fixture = nil }
                return fixture
            }
            try? fixture?.set("match /c/{id} { allow read: if false; }")
        })
        let fixture = try RulesFixture("match /c/{id} { allow read; }", store: store)
        let frames = try await watch(.collection(CollectionPath("c")), in: fixture)
        let session = ListenSession(in: try fixture.context(of: "alice"))
        #expect(try await listen(1, to: .query(query("c")), in: session) == nil)
        let sequence = session.position.lastSequence
        try await fixture.set("c/a", #"{"text": "secret"}"#)
        armed.withLock { $0 = fixture }
        guard listens else { return #expect(await failure(of: frames) == .permissionDenied) }
        #expect(LiveListenReader(session, Waiter()).next() == nil)
        #expect(session.position.lastSequence == sequence)
        let messages = try await nextMessages(of: session)
        guard case .removed(1, let cause?) = messages.first else { return #expect(Bool(false), "\(messages)") }
        #expect(cause.code == .permissionDenied)
    }

    @Test func `A listener ends once a document that its rules read takes the access away`() async throws {
        try await withRooms { fixture in
            let session = ListenSession(in: try fixture.context(of: "alice"))
            #expect(try await listen(1, to: .query(query("rooms/r/messages")), in: session) == nil)
            // In this order: the message that follows must not be sent.
            try await fixture.set("rooms/r", #"{"members": ["bob"]}"#)
            try await fixture.set("rooms/r/messages/m2", #"{"text": "secret"}"#)
            let messages = try await nextMessages(of: session)
            guard case .removed(1, let cause?) = messages.first else { return #expect(Bool(false), "\(messages)") }
            #expect(cause.code == .permissionDenied)
        }
    }

    @Test func `Other rules end the listeners that they do not allow, and no others`() async throws {
        try await withRooms { fixture in
            let session = ListenSession(in: try fixture.context(of: "alice"))
            #expect(try await listen(1, to: .query(query("rooms/r/messages")), in: session) == nil)
            #expect(try await listen(2, to: document("notes/a"), in: session) == nil)
            try fixture.set("match /notes/{id} { allow read: if request.auth.uid == 'alice'; }")
            let messages = try await nextMessages(of: session)
            #expect(messages.count == 2)
            guard case .removed(1, let cause?) = messages.first else { return #expect(Bool(false), "\(messages)") }
            #expect(cause.code == .permissionDenied)
            try await fixture.set("notes/a", #"{"owner": "alice", "n": 2}"#)
            #expect(try await nextMessages(of: session).contains { if case .changed = $0 { true } else { false } })
        }
    }

    @Test func `A resumed listener is decided, too`() async throws {
        try await withRooms { fixture in
            let position = fixture.store.position
            let token = ResumeToken(
                ofListenerAt: position.lastSequence,
                position.lastCommitTime ?? .minimum,
                epoch: position.epoch,
                in: position.database
            )
            try await fixture.set("rooms/r", #"{"members": ["bob"]}"#)
            try await fixture.set("rooms/r/messages/m2", #"{"text": "secret"}"#)
            let session = ListenSession(in: try fixture.context(of: "alice"))
            let target = ListenTarget(id: 1, .query(try query("rooms/r/messages")), resume: .token(token))
            _ = try session.add(target)
            var messages: [ListenMessage] = []
            while messages.isEmpty { messages = try await session.next(orUntil: { _ in }) }
            guard case .removed(1, let cause?) = messages.first else { return #expect(Bool(false), "\(messages)") }
            #expect(cause.code == .permissionDenied)
        }
    }

    // MARK: - Watch streams

    private func watch(
        _ target: PreparedWatchTarget,
        in fixture: RulesFixture,
        contents: WatchRequest.Contents = .document
    ) async throws -> WatchSession.Iterator {
        let request = WatchRequest(target: target, contents: contents)
        var frames = try await WatchSession(request, in: fixture.context(of: "alice")).makeAsyncIterator()
        while let batch = try await frames.next() {
            for case .current in batch { return frames }
        }
        return frames
    }

    private func watchQuery(_ collection: String, owner: String? = nil, limit: Int? = nil) throws -> PreparedWatchTarget {
        let filter = try owner.map { QueryFilter.field(try FieldPath("owner"), .equal(.string($0))) }
        let query = StructuredQuery(.collection(try CollectionPath(collection)), where: filter, limit: limit.map { .first($0) })
        return .query(try PreparedWatchQuery(query, canonicalText: "query"))
    }

    /// Returns the code of the error with which a stream fails instead of its next frames.
    private func failure(of frames: WatchSession.Iterator) async -> StatusCode? {
        var frames = frames
        do throws(StatusError) {
            _ = try await frames.next()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `A watch stream is decided before it opens`() async throws {
        try await withRooms { fixture in
            _ = try await watch(.document(DocumentPath("notes/a")), in: fixture)
            _ = try await watch(watchQuery("notes", owner: "alice"), in: fixture)
            for target in try [
                .document(DocumentPath("notes/b")), .document(DocumentPath("notes/missing")),
                .collection(CollectionPath("notes")),
                watchQuery("notes"), watchQuery("notes", owner: "bob"),
            ] as [PreparedWatchTarget] {
                let error = await #expect(throws: StatusError.self) { try await watch(target, in: fixture) }
                #expect(error?.code == .permissionDenied)
            }
        }
    }

    @Test func `A watch stream shows an end user nothing of a document that has left the query`() async throws {
        for limit in [nil, 1] {
            try await withRooms { fixture in
                var frames = try await watch(watchQuery("notes", owner: "alice", limit: limit), in: fixture)
                try await fixture.set("notes/a", #"{"owner": "bob", "secret": 1}"#)
                try await fixture.set("notes/c", #"{"owner": "alice"}"#)
                // Displaces the other one from a query with a limit.
                try await fixture.set("notes/0", #"{"owner": "alice"}"#)
                var changes: [OutgoingWatchFrame.Change] = []
                while changes.last?.path.string != "notes/0", let batch = try await frames.next() { changes += batch.changes }
                let kinds = changes.map { "\($0.kind) \($0.path.id)" }
                #expect(kinds == ["removed a", "added c"] + (limit == nil ? [] : ["removed c"]) + ["added 0"])
                #expect(changes.allSatisfy { ($0.document == nil) == ($0.kind == .removed) })
            }
        }
    }

    @Test func `A watch stream is decided again when it reads its initial state`() async throws {
        try await withRooms { fixture in
            let request = WatchRequest(target: .collection(try CollectionPath("rooms/r/messages")))
            let session = try await WatchSession(request, in: fixture.context(of: "alice"))
            try await fixture.set("rooms/r", #"{"members": ["bob"]}"#)
            let code = await failure(of: session.makeAsyncIterator())
            #expect(code == .permissionDenied)
        }
    }

    /// The room without alice, with a secret, and with alice again.
    private func leaveAndReturn(_ fixture: RulesFixture) async throws {
        try await fixture.set("rooms/r", #"{"members": ["bob"]}"#)
        try await fixture.set("rooms/r/messages/m", #"{"text": "secret"}"#)
        try await fixture.set("rooms/r/messages/m", #"{"text": "public"}"#)
        try await fixture.set("rooms/r", #"{"members": ["bob", "alice"]}"#)
    }

    @Test func `A stream that lags behind shows nothing of a time without access`() async throws {
        try await withRooms { fixture in
            let room = try await watch(.collection(CollectionPath("rooms/r/messages")), in: fixture)
            let session = ListenSession(in: try fixture.context(of: "alice"))
            let cause = try await listen(1, to: .query(query("rooms/r/messages")), in: session)
            #expect(cause == nil)
            try await leaveAndReturn(fixture)
            let code = await failure(of: room)
            #expect(code == .permissionDenied)
            let messages = try await nextMessages(of: session)
            guard case .removed(1, let cause?) = messages.first else { return #expect(Bool(false), "\(messages)") }
            #expect(cause.code == .permissionDenied)
        }
    }

    @Test func `A resumed watch stream shows an end user only what there is now`() async throws {
        try await withRooms { fixture in
            let target = PreparedWatchTarget.collection(try CollectionPath("rooms/r/messages"))
            let token = ResumeToken(target, at: fixture.store.position)
            try await leaveAndReturn(fixture)
            for version in 1...5 { try await fixture.set("rooms/r/messages/n", #"{"version": \#(version)}"#) }
            let request = WatchRequest(target: target, resume: token)
            var frames = try await WatchSession(request, in: fixture.context(of: "alice")).makeAsyncIterator()
            var texts: [String] = []
            while texts.count < 2, let batch = try await frames.next() {
                texts += batch.changes.compactMap { $0.document.map { String(decoding: $0.fieldsJSON, as: UTF8.self) } }
            }
            #expect(texts == [#"{"text":"public"}"#, #"{"version":5}"#])
        }
    }

    @Test func `A stream cannot be resumed from a time without access`() async throws {
        try await withRooms { fixture in
            try await fixture.set("rooms/r", #"{"members": ["bob"]}"#)
            let target = PreparedWatchTarget.collection(try CollectionPath("rooms/r/messages"))
            let token = ResumeToken(target, at: fixture.store.position)
            try await fixture.delete("rooms/r/messages/m")
            try await fixture.set("rooms/r", #"{"members": ["alice"]}"#)
            let request = WatchRequest(target: target, resume: token)
            var frames = try await WatchSession(request, in: fixture.context(of: "alice")).makeAsyncIterator()
            let first = try await frames.next() ?? []
            #expect(first.contains { if case .reset = $0 { true } else { false } })
            var changes: [OutgoingWatchFrame.Change] = []
            reading: while let batch = try await frames.next() {
                changes += batch.changes
                for case .current in batch { break reading }
            }
            #expect(changes.isEmpty)
        }
    }

    @Test func `A slow client gets no page that was read after its access ended`() async throws {
        let fixture = try RulesFixture(Self.rooms, store: MemoryStore(pageLimit: 2))
        try await fixture.set("rooms/r", #"{"members": ["alice"]}"#)
        for id in 1...9 { try await fixture.set("rooms/r/messages/\(id)", #"{"text": "hello"}"#) }
        let request = WatchRequest(target: .collection(try CollectionPath("rooms/r/messages")))
        var frames = try await WatchSession(request, in: fixture.context(of: "alice")).makeAsyncIterator()
        var seen = 0
        while seen == 0, let batch = try await frames.next() { seen += batch.changes.count }
        try await fixture.set("rooms/r", #"{"members": []}"#)
        for id in 1...9 { try await fixture.set("rooms/r/messages/\(id)", #"{"text": "secret"}"#) }
        let code = await failure(of: frames)
        #expect(seen < 9 && code == .permissionDenied)
    }

    @Test(arguments: [false, true])
    func `Watch streams show nothing that was read while the rules changed`(reads: Bool) async throws {
        let fixture = try RulesFixture.replacingRules(
            "match /c/{id} { allow read; }",
            with: "match /c/{id} { allow read: if \(reads); }"
        )
        try await fixture.set("c/a", #"{"text": "secret"}"#)
        let request = WatchRequest(target: .collection(try CollectionPath("c")))
        var frames = try await WatchSession(request, in: fixture.context(of: "alice")).makeAsyncIterator()
        var count = 0
        var code: StatusCode?
        do {
            while count == 0, let batch = try await frames.next() { count += batch.changes.count }
        } catch {
            code = error.code
        }
        #expect(count == (reads ? 1 : 0) && code == (reads ? nil : .permissionDenied))
    }

    @Test(arguments: [false, true])
    func `Listeners show nothing that was read while the rules changed`(reads: Bool) async throws {
        let fixture = try RulesFixture.replacingRules(
            "match /c/{id} { allow read; }",
            with: "match /c/{id} { allow read: if \(reads); }"
        )
        try await fixture.set("c/a", #"{"text": "secret"}"#)
        let session = ListenSession(in: try fixture.context(of: "alice"))
        _ = try session.add(ListenTarget(id: 1, .query(query("c"))))
        var documents = 0
        var cause: StatusError?
        listening: while true {
            for message in try await session.next(orUntil: { _ in }) {
                switch message {
                case .changed: documents += 1
                case .removed(_, let error): cause = error
                default: break
                }
                if case .snapshot = message { break listening }
            }
        }
        #expect(documents == (reads ? 1 : 0) && cause?.code == (reads ? nil : .permissionDenied))
    }

    @Test func `A watch stream never shows an end user what a document was before`() async throws {
        try await withRooms { fixture in
            let error = await #expect(throws: StatusError.self) {
                try await watch(watchQuery("notes", owner: "alice"), in: fixture, contents: .before)
            }
            #expect(error?.code == .permissionDenied)
        }
    }

    @Test func `A watch stream fails at a change that ends the access, without the new content`() async throws {
        try await withRooms { fixture in
            var note = try await watch(.document(DocumentPath("notes/a")), in: fixture)
            try await fixture.set("notes/a", #"{"owner": "alice", "n": 2}"#)
            #expect(try await note.next()?.changes.map(\.kind) == [.modified])
            let room = try await watch(.collection(CollectionPath("rooms/r/messages")), in: fixture)
            try await fixture.set("notes/a", #"{"owner": "bob", "n": 3}"#)
            #expect(await failure(of: note) == .permissionDenied)
            try await fixture.set("rooms/r", #"{"members": ["bob"]}"#)
            try await fixture.set("rooms/r/messages/m2", #"{"text": "secret"}"#)
            #expect(await failure(of: room) == .permissionDenied)
        }
    }

    @Test func `A watch stream fails when other rules do not allow it, and otherwise continues`() async throws {
        try await withRooms { fixture in
            var notes = try await watch(watchQuery("notes", owner: "alice"), in: fixture)
            let room = try await watch(.collection(CollectionPath("rooms/r/messages")), in: fixture)
            try fixture.set("match /notes/{id} { allow read: if request.auth.uid == resource.data.owner; }")
            #expect(await failure(of: room) == .permissionDenied)
            try await fixture.set("notes/c", #"{"owner": "alice"}"#)
            #expect(try await notes.next()?.changes.map(\.kind) == [.added])
        }
    }

    @Test func `A stream that begins after a commit of another server is decided on what that commit has left`() async throws {
        try await withRooms { fixture in
            let store = LaggingStore(fixture.store)
            let context = ServiceContext(store: store, rulesRegistry: fixture.registry)
                .withCaller(try RulesFixture.caller("alice"))
            let request = WatchRequest(target: .collection(try CollectionPath("rooms/r/messages")))
            let messages = ListenTarget.Source.query(try query("rooms/r/messages"))
            // From now on, this server remembers what the rules have read.
            var frames = try await WatchSession(request, in: context).makeAsyncIterator()
            #expect(try await frames.next() != nil)
            #expect(try await listen(1, to: messages, in: ListenSession(in: context)) == nil)
            try await fixture.set("rooms/r", #"{"members": ["bob"]}"#)
            #expect(store.position.lastSequence < fixture.store.position.lastSequence)
            let later = try await WatchSession(request, in: context).makeAsyncIterator()
            #expect(await failure(of: later) == .permissionDenied)
            #expect(try await listen(1, to: messages, in: ListenSession(in: context))?.code == .permissionDenied)
        }
    }

    @Test func `A stream ends when the token of its user expires`() async throws {
        let user = EndUser(
            EndUser.ID(issuer: "tests", uid: "alice"),
            authentication: .init(uid: "alice", token: .init([])),
            expirationTime: try Timestamp(microseconds: 1_000),
            tokenDigest: "token"
        )
        let keys = APIKeyRegistry(now: { Timestamp.maximum })
        let caller = Caller(user)
        #expect(!keys.isValid(caller))
        #expect(caller.endOfAccess == .unauthenticated)
        let isNotified = Waiter()
        let observation = keys.onRevocation(of: caller) { isNotified.resume() }
        await isNotified.wait()
        withExtendedLifetime(observation) {}
        #expect(keys.isValid(.anonymous))
    }
}
